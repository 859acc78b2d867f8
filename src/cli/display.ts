/**
 * A run as it goes on: streamed text, tool calls, and on a terminal a status line.
 *
 * @module
 */
import { type Budget, type RunEvent, type Spent, type ToolCall } from '../index.ts';
import { canonicalJson } from '../transcript/index.ts';
import { ERASE_LINE, LINE_UP, type Output } from './io.ts';
import { beginning, count, dollars, duration, harmless, number, oneLine } from './words.ts';

/** So much of a value is shown where there is no width. */
const PLAIN_LENGTH = 200;
/** A result repeats so much of its call's arguments, so that the two can be paired. */
const PAIRING_LENGTH = 28;
const FAILED_PAIRING_LENGTH = 12;
const REDRAW_MS = 250;

/** Shows events. Diagnostics go to `err`; the model's own text goes to `text`. */
export class Display {
  readonly #err: Output;
  readonly #text: TextStream;
  readonly #budget: Budget;
  #redrawing: NodeJS.Timeout | undefined;
  #spent: Pick<Spent, 'tokens' | 'usd' | 'seconds'> = { tokens: 0, usd: null, seconds: 0 };
  #spentAt = performance.now();
  #step = 0;
  #calls = 0;
  #doing = 'starting';
  /** The names of the tools that run, by call id. */
  readonly #running = new Map<string, string>();
  /** Whether a question waits for its answer, with the cursor behind it. */
  #asking = false;

  constructor(err: Output, text: Output, budget: Budget) {
    this.#err = err;
    this.#text = new TextStream(text);
    this.#budget = budget;
  }

  /** Takes an event. */
  on(event: RunEvent): void {
    switch (event.type) {
      case 'turn-start':
        this.#turnStarted(event.step, event.spent);
        break;
      case 'delta':
        if (event.delta.kind === 'text') this.#stream(event.delta.text);
        else this.#doing = event.delta.kind === 'reasoning' ? 'thinking' : 'writing a call';
        break;
      case 'turn-end':
        this.#hideStatus();
        this.#text.end(event.content);
        this.#update(event.spent, 'going on');
        this.#showStatus();
        break;
      case 'tool-start':
        this.#running.set(event.call.id, oneLine(event.call.name));
        this.#doing = runningWords([...this.#running.values()]);
        this.#sayCall(event.call);
        break;
      case 'tool-end':
        // A call that was refused never started.
        if (!this.#running.has(event.call.id)) this.#sayCall(event.call);
        this.#toolEnded(event);
        break;
      default:
        this.#notice(event);
    }
  }

  /** What is said once, and moves nothing. */
  #notice(event: RunEvent): void {
    switch (event.type) {
      case 'run-start':
        this.#resumed(event);
        break;
      case 'check-start':
        this.#doing = 'running the check';
        this.#showStatus();
        break;
      case 'stall-warning': {
        const text = `  ! ${event.repeats} repeats and nothing new: the run may go round in circles`;
        this.say(this.#err.style('warning', text));
        break;
      }
      default:
    }
  }

  #turnStarted(step: number, spent: Spent): void {
    this.#step = step;
    this.#update(spent, 'waiting for the model');
    if (this.#err.terminal) this.#showStatus();
    else this.#err.line(`step ${step}`);
  }

  /** A line of ours, whatever is on the screen. */
  say(text: string): void {
    this.#write(`${text}\n`);
    this.#showStatus();
  }

  /** A question: the cursor stays behind it, and no status line gets into its way. */
  ask(question: string): void {
    this.#write(question);
    this.#asking = true;
  }

  /** Somebody typed a line: the cursor is below it, at the beginning of a line. */
  typed(): void {
    // Without a question it went to the end of the status line, which is now one above.
    if (!this.#asking && this.#redrawing !== undefined) {
      this.#hideStatus();
      this.#err.write(LINE_UP + ERASE_LINE);
      this.#showStatus();
    }
    this.#asking = false;
  }

  /** Nothing is shown from here on. */
  end(): void {
    this.#hideStatus();
    this.#text.end(undefined);
  }

  #resumed({ resumedFrom, spent }: Extract<RunEvent, { type: 'run-start' }>): void {
    if (resumedFrom === undefined || spent === undefined) return;
    this.#step = spent.steps;
    this.#update(spent, 'going on');
    this.say(`resumed after ${count(resumedFrom, 'record')}`);
  }

  #sayCall(call: ToolCall): void {
    const name = oneLine(call.name);
    const text = this.#brief(argumentsOf(call), `  → ${name} `);
    this.say(`  → ${this.#err.style('strong', name)} ${text}`);
  }

  #toolEnded({ call, ok, content, failure, note }: Extract<RunEvent, { type: 'tool-end' }>): void {
    this.#calls += 1;
    this.#running.delete(call.id);
    this.#doing = runningWords([...this.#running.values()]);
    const { style } = this.#err;
    // The call's own line says them; where it failed, why is worth more room.
    const args = shortened(argumentsOf(call), ok ? PAIRING_LENGTH : FAILED_PAIRING_LENGTH);
    const lead = `  ${ok ? '✓' : '✗'} ${oneLine(call.name)} ${args} `;
    const word = ok ? 'ok' : `failed (${failure ?? 'unknown'})`;
    const text = this.#brief(content, `${lead}${word} `);
    this.say(`${lead}${style(ok ? 'good' : 'bad', word)} ${style('quiet', text)}`);
    if (note !== undefined) this.say(style('warning', `    note: ${oneLine(note)}`));
  }

  #stream(text: string): void {
    this.#hideStatus();
    this.#text.add(text);
    // A status line needs a line of its own.
    if (this.#text.atLineStart) this.#showStatus();
  }

  #write(text: string): void {
    this.#hideStatus();
    this.#text.endLine();
    // What can't wait for the answer, as an interrupt, gets a line of its own.
    this.#err.write(this.#asking ? `\n${text}` : text);
    this.#asking = false;
  }

  #update(spent: Spent, doing: string): void {
    this.#spent = spent;
    this.#spentAt = performance.now();
    this.#calls = spent.toolCalls;
    this.#doing = doing;
  }

  /** The beginning of a value, as much as has room behind what stands before it. */
  #brief(text: string, before: string): string {
    const { columns, terminal } = this.#err;
    return shortened(text, terminal ? Math.max(20, columns - before.length) : PLAIN_LENGTH);
  }

  /** Draws the status line, and keeps it up to date. The cursor must be at the beginning of an empty line. */
  #showStatus(): void {
    if (!this.#err.terminal) return;
    const draw = (): void =>
      this.#err.write(ERASE_LINE + this.#err.style('quiet', this.#statusText()));
    draw();
    this.#redrawing ??= setInterval(draw, REDRAW_MS);
  }

  /** Erases it; the cursor is back at the beginning of the line. */
  #hideStatus(): void {
    if (this.#redrawing === undefined) return;
    clearInterval(this.#redrawing);
    this.#redrawing = undefined;
    this.#err.write(ERASE_LINE);
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
      usd === null ? '' : dollars(usd) + (maxUsd === undefined ? '' : ` of ${dollars(maxUsd)}`),
    ];
    // One column less: some terminals wrap when the last one is written.
    return asManyAsFit(parts, this.#err.columns - 1);
  }
}

function argumentsOf({ raw, arguments: args }: ToolCall): string {
  return raw ?? canonicalJson(args);
}

/** `running wait`, `running wait and 1 more`. */
function runningWords([first, ...more]: readonly string[]): string {
  if (first === undefined) return 'going on';
  return `running ${first}${more.length === 0 ? '' : ` and ${more.length} more`}`;
}

/** Text on one line, of at most `room` characters. */
function shortened(text: string, room: number): string {
  // Cut before as well as after: a value may be long, and what is made harmless may grow.
  const line = oneLine(beginning(text, room));
  if (line.length <= room && text.length <= room) return line;
  return `${beginning(line, room - 1)}…`;
}

function of(used: number, limit: number | undefined): string {
  return limit === undefined ? number(used) : `${number(used)}/${number(limit)}`;
}

/** Parts that have no room are left out whole, from the last. */
function asManyAsFit([first = '', ...parts]: readonly string[], room: number): string {
  let text = first.slice(0, room);
  for (const part of parts) {
    if (text.length + 3 + part.length > room) break;
    if (part !== '') text += ` · ${part}`;
  }
  return text;
}

/** Writes the model's text as it streams in. On a terminal it is made harmless; a file gets it as it is. */
export class TextStream {
  readonly #output: Output;
  /** What was written of this turn. */
  #streamed = '';
  /** Half a character, whose other half is in the next piece. */
  #half = '';
  #atLineStart = true;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Whether the terminal's cursor is at the beginning of a line; text that goes elsewhere moves no cursor. */
  get atLineStart(): boolean {
    return this.#atLineStart || !this.#output.terminal;
  }

  add(piece: string): void {
    this.#streamed += piece;
    const text = this.#half + piece;
    this.#half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : '';
    this.#write(text.slice(0, text.length - this.#half.length));
  }

  /**
   * Ends the turn.
   *
   * @param content is what counts: where it isn't what streamed (nothing did, or an attempt broke off),
   * it is written whole. Undefined if there is no turn.
   */
  end(content: string | undefined): void {
    this.#write(this.#half);
    if (content !== undefined && content !== this.#streamed) {
      this.#newLine();
      this.#write(content);
    }
    this.#newLine();
    this.#streamed = '';
    this.#half = '';
  }

  /** Makes room on the screen for something else. */
  endLine(): void {
    if (!this.atLineStart) this.#newLine();
  }

  #write(text: string): void {
    if (text === '') return;
    this.#output.write(this.#output.terminal ? harmless(text) : text);
    this.#atLineStart = text.endsWith('\n');
  }

  #newLine(): void {
    if (!this.#atLineStart) this.#output.write('\n');
    this.#atLineStart = true;
  }
}
