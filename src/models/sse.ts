/**
 * Server-sent events (WHATWG HTML §9.2), as the providers stream them.
 *
 * @module
 */

/** One event. */
export interface ServerEvent {
  /** The event's name; '' where it has none. */
  readonly event: string;
  readonly data: string;
}

/** The bytes of a body. */
export type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * The events of a body. Comments, which servers send to keep a connection open, are no events. Data that
 * the end of the body cuts off is given too, as some servers leave the last blank line out; the caller
 * sees whether it is whole.
 */
export async function* serverEvents(body: Bytes): AsyncGenerator<ServerEvent> {
  let event = '';
  let data: string[] = [];
  for await (const line of lines(body)) {
    if (line === '') {
      if (data.length > 0) yield { event, data: data.join('\n') };
      event = '';
      data = [];
      continue;
    }
    const colon = `${line}:`.indexOf(':');
    const field = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    if (field === 'event') event = value;
  }
}

/**
 * Lines end with CR, LF or CRLF only: U+2028 is content. After the last one comes an empty one. Only what
 * is new is searched, so that a long line costs no more than short ones.
 */
async function* lines(body: Bytes): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line: string[] = [];
  let half = '';
  for await (const bytes of body) {
    const text = half + decoder.decode(bytes, { stream: true });
    // A CR at the end may be half a CRLF.
    half = text.endsWith('\r') ? '\r' : '';
    const [first = '', ...rest] = text.slice(0, text.length - half.length).split(/\r\n|\n|\r/);
    line.push(first);
    for (const next of rest) {
      yield line.join('');
      line = [next];
    }
  }
  yield line.join('') + decoder.decode();
  yield '';
}
