/**
 * How the command finds a model: a local Ollama (a stub of it), keys, and addresses.
 *
 * @module
 */
import { createServer, type Server } from 'node:http';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { symlinkSync } from 'node:fs';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findModel, ollamaAddress, ollamaModels } from '../../src/cli/choose-model.ts';
import { bareEnv, execute, MAIN, type Executed } from './script.ts';

describe('ollamaAddress', () => {
  test.each([
    [undefined, 'http://127.0.0.1:11434'],
    ['', 'http://127.0.0.1:11434'],
    ['  ', 'http://127.0.0.1:11434'],
    ['10.0.0.5', 'http://10.0.0.5:11434'],
    ['10.0.0.5:1234', 'http://10.0.0.5:1234'],
    [':1234', 'http://127.0.0.1:1234'],
    ['0.0.0.0', 'http://127.0.0.1:11434'],
    ['0.0.0.0:1234', 'http://127.0.0.1:1234'],
    ['[::1]:1234', 'http://[::1]:1234'],
    ['http://box:1234/', 'http://box:1234'],
    ['http://box/', 'http://box'],
    ['https://box/ollama/', 'https://box/ollama'],
    ['http://', 'http://127.0.0.1:11434'],
  ])('%j is %s', (host, address) => {
    expect(ollamaAddress(host === undefined ? {} : { OLLAMA_HOST: host })).toBe(address);
  });
});

test.each([
  ['llama3', 'llama3:latest'],
  ['llama3:latest', 'llama3:latest'],
  ['qwen:7b', 'qwen:7b'],
  ['qwen', undefined],
  ['', undefined],
])('the model that %j means is %j', (name, found) => {
  expect(findModel(['llama3:latest', 'qwen:7b'], name)).toBe(found);
});

describe('with a local Ollama', () => {
  let server: Server;
  let host: string;
  let folder: string;
  /** What `/api/tags` answers. */
  let tags: unknown;
  let bodies: Record<string, unknown>[];
  let keys: (string | undefined)[];

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => {
        response.setHeader('content-type', 'application/json');
        if (request.url === '/api/tags') return response.end(JSON.stringify(tags));
        keys.push(request.headers.authorization);
        bodies.push(JSON.parse(body));
        response.setHeader('content-type', 'text/event-stream');
        const delta = { role: 'assistant', content: 'Hello.' };
        const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };
        const choice = { index: 0, delta, finish_reason: 'stop' };
        response.write(`data: ${JSON.stringify({ choices: [choice] })}\n\n`);
        response.write(`data: ${JSON.stringify({ choices: [], usage })}\n\n`);
        return response.end('data: [DONE]\n\n');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    // A server that listens on a port has such an address.
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(() => {
    server.close();
  });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hashtape-models-'));
    tags = { models: [{ name: 'tiny:latest' }, { name: 'other:7b' }] };
    bodies = [];
    keys = [];
  });

  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (args: readonly string[], env: Record<string, string> = {}): Promise<Executed> =>
    execute(process.execPath, [MAIN, 'run', ...args, '--out', 'a.jsonl', 'Say hello.'], {
      cwd: folder,
      env: { ...bareEnv(folder), OLLAMA_HOST: host, ...env },
    });

  test('its first model is taken when nothing else is said, and that is said', async () => {
    const { status, stdout, stderr } = await run(['--max-tokens', '500']);
    expect(status, stderr).toBe(0);
    expect(stdout).toBe('Hello.\n');
    expect(stderr).toContain(
      `no --model given; using tiny:latest of the Ollama at http://${host}\n`,
    );
    expect(stderr).toContain('model ollama:tiny:latest, transcript a.jsonl');
    expect(readFileSync(join(folder, 'a.jsonl'), 'utf8')).toContain('"model":"ollama:tiny:latest"');
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).toMatchObject({ model: 'tiny:latest', max_tokens: expect.any(Number) });
  });

  test('ollama:NAME', async () => {
    expect((await run(['--model', 'ollama:tiny'])).status).toBe(0);
    const missing = await run(['--model', 'ollama:big']);
    expect(missing.status).toBe(2);
    expect(missing.stderr).toContain(
      "has no model 'big' (it has: tiny:latest, other:7b); fetch it with `ollama pull big`",
    );
  });

  test('openai:NAME without a key is looked for there too', async () => {
    const found = await run(['--model', 'openai:other:7b']);
    expect(found.status).toBe(0);
    expect(found.stderr).toContain('OPENAI_API_KEY is not set; using other:7b of the Ollama');
    const missing = await run(['--model', 'openai:gpt-5']);
    expect(missing.status).toBe(2);
    expect(missing.stderr).toContain(
      'needs OPENAI_API_KEY, which is not set, nor is OPENAI_BASE_URL, and the Ollama',
    );
  });

  test('openai:NAME with an address and a key; the key is nowhere in what is printed or written', async () => {
    const key = 'sk-very-secret-key';
    const env = { OPENAI_BASE_URL: `http://${host}/v1`, OPENAI_API_KEY: key };
    const { status, stdout, stderr } = await run(['--model', 'openai:gpt-5'], env);
    expect(status, stderr).toBe(0);
    expect(keys).toEqual([`Bearer ${key}`]);
    expect(stdout + stderr + readFileSync(join(folder, 'a.jsonl'), 'utf8')).not.toContain('secret');
    expect(stderr).toContain('model openai:gpt-5,');
  });

  test('an SDK that is not installed is found before anything is written', async () => {
    const copy = join(folder, 'package');
    const root = new URL('../../', import.meta.url);
    for (const part of ['dist', 'package.json']) {
      cpSync(new URL(part, root), join(copy, part), { recursive: true });
    }
    mkdirSync(join(copy, 'node_modules/@standard-schema'), { recursive: true });
    for (const name of ['commander', 'ajv', '@standard-schema/spec']) {
      symlinkSync(new URL(`node_modules/${name}`, root), join(copy, 'node_modules', name));
    }
    const main = join(copy, 'dist/cli/main.js');
    const env = {
      ...bareEnv(folder),
      OLLAMA_HOST: host,
      OPENAI_API_KEY: 'x',
      ANTHROPIC_API_KEY: 'x',
    };
    for (const [model, name] of [
      ['openai:gpt-5', 'openai'],
      ['anthropic:claude', '@anthropic-ai/sdk'],
      ['ollama:tiny', 'openai'],
    ] as const) {
      const args = [main, 'run', '--model', model, 'Say hello.'];
      const { status, stderr } = await execute(process.execPath, args, { cwd: folder, env });
      expect(status, stderr).toBe(2);
      expect(stderr).toBe(
        `hashtape: the package ${name} is not installed: run \`npm install ${name}\`\n`,
      );
    }
    expect(existsSync(join(folder, 'runs'))).toBe(false);
  });

  test('an address alone is enough', async () => {
    const { status } = await run(['--model', 'openai:local'], {
      OPENAI_BASE_URL: `http://${host}/v1`,
    });
    expect(status).toBe(0);
    expect(keys).toEqual(['Bearer none']);
  });

  test.each([
    [{ models: [] }, 'it has no models at'],
    [{ nothing: 1 }, 'nothing answers at'],
    ['text', 'nothing answers at'],
    [{ models: [{}, { name: 5 }] }, 'it has no models at'],
  ])('an answer of %j', async (answer, words) => {
    tags = answer;
    const { status, stderr } = await run([]);
    expect(status).toBe(2);
    expect(stderr).toContain(words);
  });

  test('one that never answers is given up', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    // As above.
    const { port } = silent.address() as AddressInfo;
    await expect(ollamaModels(`http://127.0.0.1:${port}`)).resolves.toBeNull();
    silent.closeAllConnections();
    silent.close();
  });
});
