import { describe, expect, test } from 'vitest';
import { anthropic } from '../../src/models/anthropic.ts';
import { modelConformance } from '../../src/testing/model-conformance.ts';

describe.each([true, false])('anthropic, stream: %s', (stream) => {
  const tests = modelConformance(
    (provider, settings) => anthropic({ model: 'claude-stub', baseURL: provider.url, ...settings }),
    { api: 'anthropic', stream },
  );
  test.each(tests)('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
