import { describe, expect, test } from 'vitest';
import { loadPeer } from '../../src/models/peer.ts';
import { ModelError } from '../../src/run/model.ts';

const missing = (name: string): Error =>
  Object.assign(new Error(`Cannot find package '${name}' imported from /home/me/app/index.js`), {
    code: 'ERR_MODULE_NOT_FOUND',
  });

describe('loadPeer', () => {
  test.each(['openai', '@anthropic-ai/sdk'])('without %s it says what to install', async (name) => {
    const loaded = loadPeer(name, () => Promise.reject(missing(name)));
    await expect(loaded).rejects.toBeInstanceOf(ModelError);
    await expect(loaded).rejects.toThrow(
      `the package ${name} is not installed: run \`npm install ${name}\``,
    );
  });

  test('an SDK that lacks a package of its own is another fault', async () => {
    const error = missing('other');
    await expect(loadPeer('openai', () => Promise.reject(error))).rejects.toBe(error);
  });
});
