/**
 * Tool calls from the deltas of a Chat Completions stream, however a server labels them.
 *
 * @module
 */
import { type ReplyCall } from '../run/model.ts';
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../transcript/index.ts';
import { identifier, member, text } from './wire.ts';

/** A call as its deltas come in. */
interface PartialCall {
  id: string;
  name: string;
  text: string;
  /** Arguments that came parsed. */
  object: JsonObject | null;
}

/** A delta of a call, its absent parts as ''. */
interface CallDelta {
  readonly index: number | null;
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly object: JsonObject | null;
}

/** Tool calls from their deltas: see {@link startsAnew} for how a delta finds its call. */
export class CallGatherer {
  readonly #calls: PartialCall[] = [];
  readonly #byIndex = new Map<number, PartialCall>();

  /** Takes a delta; returns the piece of arguments text in it. */
  add(value: JsonValue): string {
    const delta = callDelta(value);
    const known = this.#find(delta);
    const call = known === undefined || startsAnew(delta, known) ? this.#begin(delta) : known;
    if (call.id === '') call.id = delta.id;
    if (call.name === '') call.name = delta.name;
    call.object = delta.object ?? call.object;
    call.text += delta.text;
    return delta.text;
  }

  /** The calls in the order in which they began. */
  calls(): readonly ReplyCall[] {
    return this.#calls.map(({ id, name, text: written, object }) => ({
      ...(id === '' ? {} : { id }),
      name,
      arguments: object ?? written,
    }));
  }

  /** By index; without one by id; without either it goes on with the last call. */
  #find({ index, id, name }: CallDelta): PartialCall | undefined {
    if (index !== null) return this.#byIndex.get(index);
    const byId = id === '' ? undefined : this.#calls.findLast((call) => call.id === id);
    if (byId !== undefined) return byId;
    const last = this.#calls.at(-1);
    // A name and an id that nobody has yet: the next call of a server that sends no indexes.
    return name !== '' && id !== '' && last?.id !== '' ? undefined : last;
  }

  #begin({ index }: CallDelta): PartialCall {
    const call: PartialCall = { id: '', name: '', text: '', object: null };
    this.#calls.push(call);
    if (index !== null) this.#byIndex.set(index, call);
    return call;
  }
}

/**
 * Whether a delta that finds a call begins another one all the same: some servers give every call index
 * 0 or none. Only a delta with a name can, as every call begins with one; a name that is merely said
 * again comes with the same id, or in the middle of the arguments.
 */
function startsAnew(delta: CallDelta, call: PartialCall): boolean {
  if (delta.name === '' || call.name === '') return false;
  if (delta.id !== '' && delta.id === call.id) return false;
  if (delta.name !== call.name) return true;
  const isWhole = hasWholeArguments(call);
  if (delta.id !== '' && call.id !== '') return isWhole || call.text === '';
  return isWhole || (call.text !== '' && delta.text.trimStart().startsWith('{'));
}

function hasWholeArguments(call: PartialCall): boolean {
  return call.object !== null || (call.text !== '' && parseJson(call.text).ok);
}

function callDelta(value: JsonValue): CallDelta {
  const index = member(value, 'index');
  const written = member(value, 'function', 'arguments');
  return {
    index: typeof index === 'number' ? index : null,
    id: identifier(member(value, 'id')),
    name: text(member(value, 'function', 'name')),
    text: text(written),
    object: isJsonObject(written) ? written : null,
  };
}
