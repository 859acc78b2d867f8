import { describe, expect, test } from 'vitest';
import { openai } from '../../src/models/openai.ts';
import { modelConformance } from '../../src/testing/model-conformance.ts';

describe.each([true, false])('openai, stream: %s', (stream) => {
  const tests = modelConformance(
    (provider, settings) => openai({ model: 'gpt-stub', baseURL: provider.openaiURL, ...settings }),
    { api: 'openai', stream },
  );
  test.each(tests)('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
