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

/**
 * The events of a body. Comments, which servers send to keep a connection open, are no events. Lines
 * end with CR, LF or CRLF only: U+2028 is content. Data that the end of the body cuts off is given too,
 * as some servers leave the last blank line out; the caller sees whether it is whole.
 */
export async function* serverEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  const parser = new EventParser();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    // The last piece isn't a whole line yet; a CR at the end may be half a CRLF.
    rest = lines.pop() ?? '';
    for (const line of lines) yield* parser.line(line);
  }
  rest += decoder.decode();
  yield* parser.line(rest.replace(/\r$/, ''));
  yield* parser.line('');
}

class EventParser {
  #event = '';
  #data: string[] = [];

  *line(line: string): Generator<ServerEvent> {
    if (line === '') {
      if (this.#data.length > 0) yield { event: this.#event, data: this.#data.join('\n') };
      this.#event = '';
      this.#data = [];
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
    if (field === 'event') this.#event = value;
  }
}
