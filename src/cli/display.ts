/**
 * A run as it goes on: streamed text, tool calls, and on a terminal a status line.
 *
 * @module
 */
import { type Budget, type Spent } from '../run/budget.ts';
import { type RunEvent } from '../run/events.ts';
import { type ToolCall } from '../run/model.ts';
import { canonicalJson } from '../transcript/index.ts';
import { oneLine } from './harmless.ts';
import { type Output } from './io.ts';
import { StatusLine } from './status-line.ts';
import { TextStream } from './text-stream.ts';
import { beginning, dollars, duration, number } from './words.ts';

/** So much of a value is shown where there is no width. */
const PLAIN_LENGTH = 200;

const NOTHING: Spent = {
  steps: 0,
  toolCalls: 0,
  tokens: 0,
  estimatedTokens: 0,
  usd: null,
  seconds: 0,
};

/** Shows events. Diagnostics go to `err`; the model's own text goes to `text`. */
export class Display {
  readonly #err: Output;
  readonly #text: TextStream;
  readonly #budget: Budget;
  readonly #status: StatusLine;
  #spent = NOTHING;
  #spentAt = performance.now();
  #step = 0;
  #calls = 0;
  #doing = 'starting';

  constructor(err: Output, text: Output, budget: Budget) {
    this.#err = err;
    this.#text = new TextStream(text);
    this.#budget = budget;
    this.#status = new StatusLine(err, () => this.#statusText());
  }

  /** Takes an event. */
  on(event: RunEvent): void {
    switch (event.type) {
      case 'turn-start':
        this.#step = event.step;
        this.#update(event.spent, 'waiting for the model');
        if (!this.#err.terminal) this.#err.line(`step ${event.step}`);
        break;
      case 'delta':
        if (event.delta.kind === 'text') this.#stream(event.delta.text);
        else this.#doing = event.delta.kind === 'reasoning' ? 'thinking' : 'writing a call';
        return;
      case 'turn-end':
        this.#status.hide();
        this.#text.end(event.content);
        this.#update(event.spent, 'going on');
        break;
      case 'tool-start':
        this.#doing = `running ${oneLine(event.call.name)}`;
        this.#line(callText(event.call, this.#err));
        break;
      case 'tool-end':
        this.#calls += 1;
        this.#toolEnded(event);
        break;
      case 'stall-warning':
        this.#line(
          this.#err.style(
            'warning',
            `  ! ${event.repeats} repeats and nothing new: the run may go round in circles`,
          ),
        );
        break;
      default:
        return;
    }
    this.#status.show();
  }

  /** A line of ours, whatever is on the screen. */
  say(text: string): void {
    this.#line(text);
    this.#status.show();
  }

  /** A question: the cursor stays behind it, and no status line gets into its way. */
  question(text: string): void {
    this.#line(text, '');
    this.#doing = 'going on';
  }

  /** The answer by itself, for a run that wasn't shown. */
  answer(text: string): void {
    this.#text.end(text);
  }

  /** Nothing is shown from here on. */
  end(): void {
    this.#status.hide();
    this.#text.end(undefined);
  }

  #stream(text: string): void {
    this.#status.hide();
    this.#text.add(text);
    // A status line needs a line of its own.
    if (this.#text.atLineStart) this.#status.show();
  }

  #line(text: string, end = '\n'): void {
    this.#status.hide();
    this.#text.endLine();
    this.#err.write(text + end);
  }

  #toolEnded({ call, ok, content, failure, note }: Extract<RunEvent, { type: 'tool-end' }>): void {
    const { style } = this.#err;
    const name = oneLine(call.name);
    const word = ok ? 'ok' : `failed (${failure ?? 'unknown'})`;
    const text = brief(content, this.#err, `  ✓ ${name} ${word} `.length);
    const styled = style(ok ? 'good' : 'bad', word);
    this.#line(`  ${ok ? '✓' : '✗'} ${name} ${styled} ${style('quiet', text)}`);
    if (note !== undefined) this.#line(style('warning', `    note: ${oneLine(note)}`));
  }

  #update(spent: Spent, doing: string): void {
    this.#spent = spent;
    this.#spentAt = performance.now();
    this.#calls = spent.toolCalls;
    this.#doing = doing;
  }

  #statusText(): string {
    const { tokens, seconds, usd } = this.#spent;
    const { steps, toolCalls, tokens: maxTokens, seconds: maxSeconds, usd: maxUsd } = this.#budget;
    const elapsed = seconds + (performance.now() - this.#spentAt) / 1000;
    const parts = [
      `step ${of(this.#step, steps)}`,
      this.#doing,
      duration(elapsed) + (maxSeconds === undefined ? '' : ` of ${duration(maxSeconds)}`),
      `tokens ${of(tokens, maxTokens)}`,
      `tool calls ${of(this.#calls, toolCalls)}`,
      ...(usd === null
        ? []
        : [dollars(usd) + (maxUsd === undefined ? '' : ` of ${dollars(maxUsd)}`)]),
    ];
    return asManyAsFit(parts, this.#err.columns - 1);
  }
}

/** Parts that have no room are left out whole, from the last. */
function asManyAsFit(parts: readonly string[], room: number): string {
  let text = parts[0] ?? '';
  for (const part of parts.slice(1)) {
    const longer = `${text} · ${part}`;
    if (longer.length > room) break;
    text = longer;
  }
  return text;
}

function of(used: number, limit: number | undefined): string {
  return limit === undefined ? number(used) : `${number(used)}/${number(limit)}`;
}

function callText(call: ToolCall, err: Output): string {
  const name = oneLine(call.name);
  const args = brief(call.raw ?? canonicalJson(call.arguments), err, `  → ${name} `.length);
  return `  → ${err.style('strong', name)} ${args}`;
}

/** The beginning of a value, for the rest of a line on which `used` columns are taken. */
function brief(text: string, { columns, terminal }: Output, used: number): string {
  const room = terminal ? Math.max(20, columns - used) : PLAIN_LENGTH;
  // Cut before as well as after: a value may be long, and what is made harmless may grow.
  const line = oneLine(beginning(text, room));
  if (line.length <= room && text.length <= room) return line;
  return `${beginning(line, room - 1)}…`;
}
