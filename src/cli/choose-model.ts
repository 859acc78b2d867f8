/**
 * Which model a run uses: from `--model`, the environment, or a local Ollama.
 *
 * @module
 */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Model, type Price } from '../index.ts';
import { anthropic } from '../models/anthropic.ts';
import { openai } from '../models/openai.ts';
import { loadPeer } from '../models/peer.ts';
import { loadScript } from '../models/scripted.ts';
import { shellPath } from '../store/shell-path.ts';
import { CommandError } from './io.ts';
import { given } from './options.ts';
import { oneLine, problemOf } from './words.ts';

/** Examples that are in the package, as a shell takes their paths where it is. */
export const EXAMPLE: { readonly script: string; readonly tools: string } = {
  script: packed('scripted-add.json'),
  tools: packed('tools-add.mjs'),
};

function packed(name: string): string {
  const path = fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
  const near = relative(process.cwd(), path);
  return shellPath(near.length < path.length ? near : path);
}

/** What a choice depends on, beside `--model`. */
interface Setting {
  readonly env: NodeJS.ProcessEnv;
  readonly price: Price | undefined;
  /** Is told of a choice that wasn't the user's own. */
  readonly say: (text: string) => void;
}

/**
 * Chooses the model.
 *
 * @param wanted is `--model`; default: the variable `HASHTAPE_MODEL`, then what Ollama has.
 * @throws {CommandError} that says what is missing, or what was looked for, and what to do.
 */
export async function chooseModel(wanted: string | undefined, setting: Setting): Promise<Model> {
  const text = wanted ?? set(setting.env, 'HASHTAPE_MODEL');
  if (text === undefined) return firstOfOllama(setting);
  const [, provider = '', name = ''] = /^(\w+):(.+)$/s.exec(text) ?? [];
  const choose = PROVIDERS.get(provider);
  if (choose !== undefined) return choose(name, setting);
  throw new CommandError(
    `'${oneLine(text)}' is not a model; a model is openai:NAME, anthropic:NAME, ollama:NAME or scripted:FILE`,
  );
}

const PROVIDERS: ReadonlyMap<string, (name: string, setting: Setting) => Promise<Model>> = new Map([
  ['openai', openaiNamed],
  ['anthropic', anthropicNamed],
  ['ollama', ollamaNamed],
  ['scripted', scriptedFrom],
]);

async function openaiNamed(name: string, setting: Setting): Promise<Model> {
  const { env, price } = setting;
  const baseURL = set(env, 'OPENAI_BASE_URL');
  if (set(env, 'OPENAI_API_KEY') !== undefined || baseURL !== undefined) {
    await installed('openai', () => import('openai'));
    return openai({ model: name, ...given({ baseURL, price }) });
  }
  // Without a key, a model of that name in a local Ollama is what must be meant.
  const { address, models, model } = await fromOllama(name, setting);
  if (model !== undefined) {
    setting.say(`OPENAI_API_KEY is not set; using ${inWords(model)} at ${address}`);
    return model;
  }
  const ollama =
    models === null
      ? `no Ollama answers at ${address}`
      : `the Ollama at ${address} has no such model`;
  throw new CommandError(
    `openai:${oneLine(name)} needs OPENAI_API_KEY, which is not set, nor is OPENAI_BASE_URL, and ${ollama}; set one of the two variables`,
  );
}

async function anthropicNamed(name: string, { env, price }: Setting): Promise<Model> {
  if (!set(env, 'ANTHROPIC_API_KEY') && !set(env, 'ANTHROPIC_AUTH_TOKEN')) {
    throw new CommandError(
      `anthropic:${oneLine(name)} needs ANTHROPIC_API_KEY, which is not set; set it to your key`,
    );
  }
  await installed('@anthropic-ai/sdk', () => import('@anthropic-ai/sdk'));
  const baseURL = set(env, 'ANTHROPIC_BASE_URL');
  return anthropic({ model: name, ...given({ baseURL, price }) });
}

async function ollamaNamed(name: string, setting: Setting): Promise<Model> {
  const { address, models, model } = await fromOllama(name, setting);
  if (model !== undefined) return model;
  throw new CommandError(
    models === null
      ? `no Ollama answers at ${address}; start it with \`ollama serve\`, or set OLLAMA_HOST to where it is`
      : `the Ollama at ${address} has no model '${oneLine(name)}' (it has: ${models.map(oneLine).join(', ') || 'none'}); fetch it with \`ollama pull ${oneLine(name)}\``,
  );
}

async function scriptedFrom(path: string, { price }: Setting): Promise<Model> {
  try {
    return await loadScript(path, given({ price }));
  } catch (error) {
    throw new CommandError(
      `the script can't be used: ${problemOf(error)}. A script is {"turns": [{"content": "…"}]}; ${EXAMPLE.script} is one`,
      { cause: error },
    );
  }
}

async function firstOfOllama(setting: Setting): Promise<Model> {
  const { address, models, model } = await fromOllama(undefined, setting);
  if (model !== undefined) {
    setting.say(`no --model given; using ${inWords(model)} at ${address}`);
    return model;
  }
  // Whether a variable is set, never what it holds.
  const presence = (name: string, provider: string): string =>
    set(setting.env, name) === undefined
      ? 'not set'
      : `set: add --model ${provider}:NAME to use it`;
  throw new CommandError(`no model to run with. Looked for:
  --model            not given
  HASHTAPE_MODEL     not set
  OPENAI_API_KEY     ${presence('OPENAI_API_KEY', 'openai')}
  OPENAI_BASE_URL    ${presence('OPENAI_BASE_URL', 'openai')}
  ANTHROPIC_API_KEY  ${presence('ANTHROPIC_API_KEY', 'anthropic')}
  Ollama             ${models === null ? 'nothing answers' : 'it has no models'} at ${address}
Set a key and name a model (--model openai:NAME or anthropic:NAME), start Ollama, or try it without a model:
  npx hashtape run --model scripted:${EXAMPLE.script} --tools ${EXAMPLE.tools} "What is 2 + 40?"
  npx hashtape demo`);
}

/** A model of the local Ollama, the first if none is named; and where it is and what it has. */
async function fromOllama(
  name: string | undefined,
  { env, price }: Setting,
): Promise<{ address: string; models: readonly string[] | null; model?: Model }> {
  const address = ollamaAddress(env);
  const models = await ollamaModels(address);
  const found = name === undefined ? models?.[0] : findModel(models ?? [], name);
  if (found === undefined) return { address, models };
  await installed('openai', () => import('openai'));
  const model = openai({
    model: found,
    baseURL: `${address}/v1`,
    apiKey: 'ollama',
    // Its compatible API takes the older field, and makes a message of each part of a content.
    maxTokensField: 'max_tokens',
    contentParts: false,
    ...given({ price }),
  });
  return { address, models, model: Object.assign(model, { id: `ollama:${found}` }) };
}

/** A model loads its SDK when it is first asked, which is too late: a transcript is begun by then. */
async function installed(name: string, load: () => Promise<unknown>): Promise<void> {
  try {
    await loadPeer(name, load);
  } catch (error) {
    throw new CommandError(problemOf(error), { cause: error });
  }
}

function inWords({ id = '' }: Model): string {
  return `${oneLine(id.replace(/^ollama:/, ''))} of the Ollama`;
}

function set(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === '' ? undefined : value;
}

/** It is on this machine. */
const OLLAMA_LIMIT_MS = 500;
const OLLAMA_PORT = '11434';

/** Ollama's address from `OLLAMA_HOST`, which is also what its server listens on, or the default. */
export function ollamaAddress(env: NodeJS.ProcessEnv): string {
  const host = set(env, 'OLLAMA_HOST') ?? '127.0.0.1';
  const isPlain = !/^[a-z]+:\/\//i.test(host);
  const text = isPlain ? `http://${host.replace(/^:/, '127.0.0.1:')}` : host;
  if (!URL.canParse(text)) return `http://127.0.0.1:${OLLAMA_PORT}`;
  const url = new URL(text);
  if (isPlain && url.port === '') url.port = OLLAMA_PORT;
  // A server that listens everywhere is reached on this machine.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  return `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}`;
}

/** The models that the Ollama at an address has; null if none answers there. */
export async function ollamaModels(address: string): Promise<readonly string[] | null> {
  try {
    const signal = AbortSignal.timeout(OLLAMA_LIMIT_MS);
    const response = await fetch(`${address}/api/tags`, { signal });
    // Whatever else it is throws here, or below.
    const { models } = (await response.json()) as { models: { name?: unknown }[] };
    return models.map(({ name }) => name).filter((name) => typeof name === 'string');
  } catch {
    return null;
  }
}

/** The model among `models` that a name means: `llama3` is `llama3:latest`. */
export function findModel(models: readonly string[], name: string): string | undefined {
  return models.find((model) => model === name || model === `${name}:latest`);
}
