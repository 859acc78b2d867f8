/**
 * Which model a run uses: from `--model`, the environment, or a local Ollama.
 *
 * @module
 */
import { anthropic } from '../models/anthropic.ts';
import { openai } from '../models/openai.ts';
import { loadPeer } from '../models/peer.ts';
import { loadScript } from '../models/scripted.ts';
import { type Model, type Price } from '../run/model.ts';
import { CommandError, problemOf } from './command-error.ts';
import { oneLine } from './harmless.ts';
import { findModel, ollamaAddress, ollamaModels } from './ollama.ts';

/** A model, and what there is to say about how it was chosen. */
export interface Choice {
  readonly model: Model;
  readonly said?: string;
}

/** What a choice depends on. */
export interface ChoiceRequest {
  /** `--model`; default `HASHTAPE_MODEL`. */
  readonly wanted: string | undefined;
  readonly price: Price | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Chooses the model.
 *
 * @throws {CommandError} that says what is missing, or what was looked for, and what to do.
 */
export async function chooseModel(request: ChoiceRequest): Promise<Choice> {
  const wanted = request.wanted ?? set(request.env, 'HASHTAPE_MODEL');
  if (wanted === undefined) return firstOfOllama(request);
  const colon = wanted.indexOf(':');
  const provider = wanted.slice(0, Math.max(0, colon));
  const name = wanted.slice(colon + 1);
  if (name === '' || !isProvider(provider)) {
    throw new CommandError(`'${oneLine(wanted)}' is not a model; a model is ${FORMS}`);
  }
  return PROVIDERS[provider](name, request);
}

type Provider = 'openai' | 'anthropic' | 'ollama' | 'scripted';

const FORMS = 'openai:NAME, anthropic:NAME, ollama:NAME or scripted:FILE';

const PROVIDERS: Readonly<
  Record<Provider, (name: string, request: ChoiceRequest) => Promise<Choice>>
> = { openai: openaiNamed, anthropic: anthropicNamed, ollama: ollamaNamed, scripted: scriptedFrom };

function isProvider(text: string): text is Provider {
  return Object.hasOwn(PROVIDERS, text);
}

async function openaiNamed(name: string, request: ChoiceRequest): Promise<Choice> {
  const { env, price } = request;
  const baseURL = set(env, 'OPENAI_BASE_URL');
  if (set(env, 'OPENAI_API_KEY') === undefined && baseURL === undefined) {
    return openaiInOllama(name, request);
  }
  await requirePeer('openai', () => import('openai'));
  return {
    model: openai({
      model: name,
      ...(baseURL === undefined ? {} : { baseURL }),
      ...(price === undefined ? {} : { price }),
    }),
  };
}

/** Without a key, a model of that name in a local Ollama is what must be meant. */
async function openaiInOllama(name: string, request: ChoiceRequest): Promise<Choice> {
  const address = ollamaAddress(request.env);
  const models = await ollamaModels(address);
  const found = models === null ? undefined : findModel(models, name);
  if (found !== undefined) {
    const said = `OPENAI_API_KEY is not set; using ${oneLine(found)} of the Ollama at ${address}`;
    return { ...(await inOllama(found, address, request)), said };
  }
  const ollama =
    models === null
      ? `no Ollama answers at ${address}`
      : `the Ollama at ${address} has no such model`;
  throw new CommandError(
    `openai:${oneLine(name)} needs OPENAI_API_KEY, which is not set, nor is OPENAI_BASE_URL, and ${ollama}; set one of the two variables`,
  );
}

async function anthropicNamed(name: string, { env, price }: ChoiceRequest): Promise<Choice> {
  const baseURL = set(env, 'ANTHROPIC_BASE_URL');
  const key = set(env, 'ANTHROPIC_API_KEY');
  if (key === undefined && set(env, 'ANTHROPIC_AUTH_TOKEN') === undefined) {
    throw new CommandError(
      `anthropic:${oneLine(name)} needs ANTHROPIC_API_KEY, which is not set; set it to your key`,
    );
  }
  await requirePeer('@anthropic-ai/sdk', () => import('@anthropic-ai/sdk'));
  return {
    model: anthropic({
      model: name,
      ...(baseURL === undefined ? {} : { baseURL }),
      ...(price === undefined ? {} : { price }),
    }),
  };
}

async function ollamaNamed(name: string, request: ChoiceRequest): Promise<Choice> {
  const address = ollamaAddress(request.env);
  const models = await ollamaModels(address);
  if (models === null) {
    throw new CommandError(
      `no Ollama answers at ${address}; start it with \`ollama serve\`, or set OLLAMA_HOST to where it is`,
    );
  }
  const found = findModel(models, name);
  if (found !== undefined) return inOllama(found, address, request);
  const have = models.length === 0 ? 'none' : models.map(oneLine).join(', ');
  throw new CommandError(
    `the Ollama at ${address} has no model '${oneLine(name)}' (it has: ${have}); fetch it with \`ollama pull ${oneLine(name)}\``,
  );
}

async function scriptedFrom(path: string, { price }: ChoiceRequest): Promise<Choice> {
  try {
    return { model: await loadScript(path, price === undefined ? {} : { price }) };
  } catch (error) {
    throw new CommandError(
      `the script can't be used: ${problemOf(error)}. A script is {"turns": [{"content": "…"}]}; examples/scripted-add.json is one`,
      { cause: error },
    );
  }
}

async function firstOfOllama(request: ChoiceRequest): Promise<Choice> {
  const { env } = request;
  const address = ollamaAddress(env);
  const models = await ollamaModels(address);
  const first = models?.[0];
  if (first !== undefined) {
    const said = `no --model given; using ${oneLine(first)} of the Ollama at ${address}`;
    return { ...(await inOllama(first, address, request)), said };
  }
  const ollama = models === null ? 'nothing answers' : 'it has no models';
  throw new CommandError(`no model to run with. Looked for:
  --model            not given
  HASHTAPE_MODEL     not set
  OPENAI_API_KEY     ${presence(env, 'OPENAI_API_KEY', 'openai')}
  OPENAI_BASE_URL    ${presence(env, 'OPENAI_BASE_URL', 'openai')}
  ANTHROPIC_API_KEY  ${presence(env, 'ANTHROPIC_API_KEY', 'anthropic')}
  Ollama             ${ollama} at ${address}
Set a key and name a model (--model openai:NAME or anthropic:NAME), start Ollama, or try it without a model:
  hashtape run --model scripted:examples/scripted-add.json --tools examples/tools-add.mjs "What is 2 + 40?"
  hashtape demo`);
}

/** Whether a variable is set, never what it holds. */
function presence(env: NodeJS.ProcessEnv, name: string, provider: string): string {
  return set(env, name) === undefined ? 'not set' : `set: add --model ${provider}:NAME to use it`;
}

async function inOllama(
  name: string,
  address: string,
  { price }: ChoiceRequest,
): Promise<{ model: Model }> {
  await requirePeer('openai', () => import('openai'));
  const model = openai({
    model: name,
    baseURL: `${address}/v1`,
    apiKey: 'ollama',
    // Its compatible API takes the older field, and makes a message of each part of a content.
    maxTokensField: 'max_tokens',
    contentParts: false,
    ...(price === undefined ? {} : { price }),
  });
  return { model: Object.assign(model, { id: `ollama:${name}` }) };
}

/** A missing package is said before the run begins, not as its outcome. */
async function requirePeer(name: string, load: () => Promise<unknown>): Promise<void> {
  try {
    await loadPeer(name, load);
  } catch (error) {
    throw new CommandError(`this model needs a package: ${problemOf(error)}`, { cause: error });
  }
}

function set(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === '' ? undefined : value;
}
