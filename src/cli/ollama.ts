/**
 * A local Ollama: where it is, and which models it has.
 *
 * @module
 */

/** How long it may take to answer: it is on this machine. */
const LIMIT_MS = 500;
const PORT = '11434';

/** Ollama's address from `OLLAMA_HOST`, which is also what its server listens on, or the default. */
export function ollamaAddress(env: NodeJS.ProcessEnv): string {
  const given = env['OLLAMA_HOST']?.trim() ?? '';
  if (given === '') return `http://127.0.0.1:${PORT}`;
  const url = parse(
    /^[a-z]+:\/\//i.test(given) ? given : `http://${given.replace(/^:/, '127.0.0.1:')}`,
  );
  if (url === null) return `http://127.0.0.1:${PORT}`;
  // A server that listens everywhere is reached on this machine.
  const host = url.hostname === '0.0.0.0' ? '127.0.0.1' : url.hostname;
  const isPlain = url.port === '' && !given.includes('://');
  const port = isPlain ? `:${PORT}` : url.port === '' ? '' : `:${url.port}`;
  return `${url.protocol}//${host}${port}${url.pathname.replace(/\/+$/, '')}`;
}

/** The models that the Ollama at an address has; null if none answers there. */
export async function ollamaModels(address: string): Promise<readonly string[] | null> {
  try {
    const response = await fetch(`${address}/api/tags`, { signal: AbortSignal.timeout(LIMIT_MS) });
    return response.ok ? names(await response.json()) : null;
  } catch {
    return null;
  }
}

/** The model among `models` that a name means: `llama3` is `llama3:latest`. */
export function findModel(models: readonly string[], name: string): string | undefined {
  return models.find((model) => model === name || model === `${name}:latest`);
}

function names(answer: unknown): readonly string[] | null {
  if (typeof answer !== 'object' || answer === null || !('models' in answer)) return null;
  if (!Array.isArray(answer.models)) return null;
  return answer.models.flatMap((model: unknown) => {
    const isNamed = typeof model === 'object' && model !== null && 'name' in model;
    return isNamed && typeof model.name === 'string' ? [model.name] : [];
  });
}

function parse(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}
