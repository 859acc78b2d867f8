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
    const [field = '', ...rest] = line.split(':');
    const value = rest.join(':').replace(/^ /, '');
    if (field === 'data') data.push(value);
    if (field === 'event') event = value;
  }
}

/** Lines end with CR, LF or CRLF only: U+2028 is content. After the last one comes an empty one. */
async function* lines(body: Bytes): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const whole = rest.split(/\r\n|\n|\r(?!$)/);
    // The last piece isn't a whole line yet; a CR at the end may be half a CRLF.
    rest = whole.pop() ?? '';
    yield* whole;
  }
  yield (rest + decoder.decode()).replace(/\r$/, '');
  yield '';
}
