import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { serverEvents, type ServerEvent } from '../../src/models/sse.ts';

async function read(bytes: Uint8Array, size: number): Promise<readonly ServerEvent[]> {
  const events: ServerEvent[] = [];
  async function* body(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  for await (const event of serverEvents(body())) events.push(event);
  return events;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('serverEvents', () => {
  test.each<[string, string, readonly (readonly [string, string])[]]>([
    ['nothing', '', []],
    [
      'data',
      'data: a\n\ndata:b\n\n',
      [
        ['', 'a'],
        ['', 'b'],
      ],
    ],
    ['only one space is taken off', 'data:  a \n\n', [['', ' a ']]],
    [
      'a name, which ends with its event',
      'event: x\ndata: a\n\ndata: b\n\n',
      [
        ['x', 'a'],
        ['', 'b'],
      ],
    ],
    ['lines are joined', 'data: a\ndata: b\n\n', [['', 'a\nb']]],
    ['comments and pings are nothing', ': hi\n\nevent: ping\n\ndata: a\n\n', [['', 'a']]],
    ['other fields are nothing', 'id: 1\nretry: 5\nwhat\ndata: a\n\n', [['', 'a']]],
    [
      'CRLF',
      'data: a\r\n\r\ndata: b\r\n\r\n',
      [
        ['', 'a'],
        ['', 'b'],
      ],
    ],
    [
      'CR',
      'data: a\r\rdata: b\r\r',
      [
        ['', 'a'],
        ['', 'b'],
      ],
    ],
    ['CRLF inside an event', 'event: x\r\ndata: a\r\ndata: b\r\n\r\n', [['x', 'a\nb']]],
    ['other line ends are content', 'data: a\u2028b\u0085c\n\n', [['', 'a\u2028b\u0085c']]],
    ['a colon in the data', 'data: {"a":1}\n\n', [['', '{"a":1}']]],
    [
      'an end that is missing',
      'data: a\n\ndata: b',
      [
        ['', 'a'],
        ['', 'b'],
      ],
    ],
    ['a data field without a colon', 'data\n\n', [['', '']]],
  ])('%s, however it is cut', async (_, text, expected) => {
    const events = expected.map(([event, data]) => ({ event, data }));
    for (const size of [1, 2, 3, 1000]) expect(await read(encode(text), size)).toEqual(events);
  });

  test('a long line is searched once, not again with every piece', async () => {
    let searched = 0;
    const split = RegExp.prototype[Symbol.split];
    const spy = vi.spyOn(RegExp.prototype, Symbol.split).mockImplementation(function (
      this: RegExp,
      text,
    ) {
      searched += text.length;
      return Reflect.apply(split, this, [text]);
    });
    try {
      const [event] = await read(encode(`data: ${'x'.repeat(1_000_000)}\n\n`), 1000);
      expect(event?.data).toHaveLength(1_000_000);
      expect(searched).toBeLessThan(1_001_000);
    } finally {
      spy.mockRestore();
    }
  });

  test('any text comes through in any pieces', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme' })),
        fc.integer({ min: 1, max: 9 }),
        async (texts, size) => {
          const datas = texts.map((text) => JSON.stringify(text));
          const body = datas.map((data) => `: beat\n\ndata: ${data}\n\n`).join('');
          const events = await read(encode(body), size);
          expect(events.map(({ data }) => data)).toEqual(datas);
        },
      ),
      { numRuns: 100 },
    );
  });
});
