/**
 * Asking an authority for a timestamp: one by `openssl ts` on loopback, and ones that answer otherwise.
 *
 * @module
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifyTimestamp } from '../../src/attest/timestamp-verify.ts';
import { encodeTimestampQuery, requestTimestamp } from '../../src/attest/timestamp.ts';
import { EvidenceError } from '../../src/evidence/encoding.ts';
import { CA, type Issued, needs, RSA, usable, Workshop } from './authority.ts';
import { type Answer, serve, type TestServer } from './test-witness.ts';
import { bytes } from './token.ts';

const DATA = Buffer.from('a checkpoint\n');

test('a query is as RFC 3161 has it', () => {
  const query = encodeTimestampQuery(Buffer.from('hello'), bytes('4102030405060708'));
  const digest = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
  const imprint = `3031300d060960864801650304020105000420${digest}`;
  expect(Buffer.from(query).toString('hex')).toBe(`3043020101${imprint}020841020304050607080101ff`);
});

function expected(detail: RegExp) {
  return { outcome: 'unreachable', detail: expect.stringMatching(detail) as unknown };
}

describe.skipIf(!usable)(`an authority made with OpenSSL${needs}`, () => {
  let shop: Workshop;
  let root: Issued;
  let signer: Issued;
  let server: TestServer;
  let answer: (query: Buffer) => Answer | Promise<Answer>;

  beforeAll(() => {
    shop = new Workshop();
    root = shop.issue('root', undefined, { extensions: CA });
    signer = shop.issue('authority', root, { key: RSA });
  });

  afterAll(() => shop.remove());

  beforeEach(async () => {
    answer = (query) => ({
      status: 200,
      type: 'application/timestamp-reply',
      body: shop.reply(query, signer),
    });
    server = await serve((query) => answer(query));
  });

  afterEach(() => server.close());

  function ask(options: { timeoutMs?: number; signal?: AbortSignal } = {}) {
    return requestTimestamp(DATA, { url: `${server.url}/tsa`, trusted: root.pem, ...options });
  }

  test('stamps, and its answer can be checked again by us and by OpenSSL', async () => {
    const outcome = await ask();
    if (outcome.outcome !== 'ok') throw new Error(outcome.detail);
    const { response, time, authority } = outcome;
    expect(authority).toBe('O=hashtape, CN=authority');
    expect(Math.abs(time - Date.now() / 1000)).toBeLessThan(3600);
    expect(verifyTimestamp(response, DATA, { trusted: root.pem })).toEqual({
      ok: true,
      time,
      authority,
    });
    expect(shop.verify(response, DATA, root.pem, time)).toBe(true);
    expect(server.requests).toMatchObject([
      { method: 'POST', path: '/tsa', type: 'application/timestamp-query' },
    ]);
    shop.write('asked', server.requests[0]!.body);
    const text = shop.openssl('ts', '-query', '-in', 'asked', '-text');
    expect(text).toMatch(/Hash Algorithm: sha256[^]*Certificate required: yes/);
    expect(text).toMatch(/Nonce: 0x[4-7][0-9A-F]{15}/);
  });

  test('is asked with another nonce each time', async () => {
    answer = () => ({ status: 500, body: '' });
    for (let i = 0; i < 30; i += 1) await ask();
    const asked = server.requests.map(({ body }) => body.toString('hex'));
    expect(new Set(asked).size).toBe(30);
    // Positive, and as long as the others: from 0x40 to 0x7f.
    const first = server.requests.map(({ body }) => body.at(-11) ?? 0);
    expect(first.filter((byte) => byte < 0x40 || byte > 0x7f)).toEqual([]);
    expect(new Set(first).size).toBeGreaterThan(3);
    expect(new Set(asked.map((query) => query.length)).size).toBe(1);
  });

  test('that answers what it answered before, or to other data, is not believed', async () => {
    const before = shop.reply(encodeTimestampQuery(DATA, bytes('4102030405060708')), signer);
    answer = () => ({ status: 200, body: before });
    expect(await ask()).toEqual({
      outcome: 'refused',
      status: 200,
      detail: 'timestamp: it does not answer this query: the nonce is not the same',
    });
    answer = () => ({
      status: 200,
      body: shop.reply(encodeTimestampQuery(Buffer.from('b'), bytes('4102030405060708')), signer),
    });
    expect(await ask()).toMatchObject({ detail: 'timestamp: it is of other data' });
  });

  test('that nobody trusts is not believed', async () => {
    const other = shop.issue('other', undefined, { extensions: CA });
    const outcome = await requestTimestamp(DATA, { url: server.url, trusted: other.pem });
    expect(outcome).toMatchObject({ outcome: 'refused', status: 200 });
    expect('detail' in outcome && outcome.detail).toMatch(/nothing that is trusted/);
  });

  test('that refuses is quoted', async () => {
    answer = () => ({ status: 200, body: shop.reply(Buffer.from('hello'), signer) });
    expect(await ask()).toEqual({
      outcome: 'refused',
      status: 200,
      detail: 'timestamp: the authority refused (status 2): Bad request format or system error.',
    });
  });

  test.each([
    [200, '', /^DER: /],
    [200, '<html>', /^DER: /],
    [404, 'no such page', /^no such page$/],
    [302, '', /^it sends you to another address: give that one$/],
    [500, '\u0007', /^it said nothing more$/],
  ])('with status %i and %j is no authority', async (status, body, words) => {
    answer = () => ({ status, body });
    const outcome = await ask();
    expect(outcome).toMatchObject({ outcome: 'refused', status });
    expect('detail' in outcome && outcome.detail).toMatch(words);
  });

  test('that is gone, silent, endless or no longer wanted is unreachable', async () => {
    answer = () => new Promise<never>(() => undefined);
    expect(await ask({ timeoutMs: 30 })).toEqual(expected(/^no answer within 30 ms$/));
    expect(await ask({ signal: AbortSignal.abort() })).toEqual(expected(/aborted/));
    answer = () => ({ status: 200, body: Buffer.alloc(200_000) });
    expect(await ask()).toEqual(expected(/over 100000 bytes/));
    await server.close();
    expect(await ask()).toEqual(expected(/ECONNREFUSED|closed/));
    server = await serve((query) => answer(query));
  });

  test('is not asked if nothing is trusted', async () => {
    const nothing = requestTimestamp(DATA, { url: server.url, trusted: signer.pem });
    await expect(nothing).rejects.toThrow(EvidenceError);
    expect(server.requests).toHaveLength(0);
  });
});
