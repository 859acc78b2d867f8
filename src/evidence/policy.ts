/**
 * Trust policies (C2SP tlog-policy): which logs are known, which witnesses, and how many of these must have
 * cosigned a checkpoint.
 *
 * @module
 */
import { EvidenceError, readInteger, readUtf8, sameBytes } from './encoding.ts';
import { parseVerifierKey, type SignatureKind, type VerifierKey } from './note-key.ts';
import { type Verified } from './note-signature.ts';

/** A log whose checkpoints count. */
export interface PolicyLog {
  /** Its key; the key's name is the log's origin. */
  readonly key: VerifierKey;
  /** Where to reach it. The format gives it no further meaning. */
  readonly url?: string;
}

/** A witness that may count for the quorum. */
export interface PolicyWitness {
  /** What this policy calls it. */
  readonly name: string;
  /** The key of its cosignatures. */
  readonly key: VerifierKey;
  /** Where to ask it: best the submission prefix of C2SP tlog-witness. */
  readonly url?: string;
}

/** Some witnesses or groups, of which a number must have cosigned. */
export interface PolicyGroup {
  readonly name: string;
  /** How many members are enough. */
  readonly threshold: number;
  /** Names of witnesses and of groups before this one. */
  readonly members: readonly string[];
}

/** What a policy file says. */
export interface Policy {
  readonly logs: readonly PolicyLog[];
  readonly witnesses: readonly PolicyWitness[];
  /** In the file's order: each names only what stands before it. */
  readonly groups: readonly PolicyGroup[];
  /** The witness or group that must have cosigned; undefined for `none`. */
  readonly quorum: string | undefined;
}

/** Reads a policy file strictly. What is wrong is named with its line. */
export function parsePolicy(input: string | Uint8Array): Policy {
  const lines = readUtf8(input, 'policy').split('\n');
  if (lines.pop() !== '') {
    throw new EvidenceError('policy: the last line has no newline; the file may be cut short');
  }
  const draft = new Draft();
  for (const [i, line] of lines.entries()) {
    try {
      draft.add(line);
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
      throw new EvidenceError(`policy line ${i + 1}: ${error.message}`);
    }
  }
  return draft.finish();
}

/** Every key that a policy names: what `checkNote` must know. */
export function policyKeys({ logs, witnesses }: Policy): VerifierKey[] {
  return [...logs, ...witnesses].map(({ key }) => key);
}

/** What a policy makes of a checkpoint. */
export interface PolicyVerdict {
  /** Whether a known log signed it and the quorum cosigned it. */
  readonly ok: boolean;
  /** What is missing, in words. */
  readonly detail?: string;
  /** The log that signed. */
  readonly log?: PolicyLog;
  /** The policy's witnesses that cosigned, also where they are too few. */
  readonly witnesses: readonly PolicyWitness[];
}

/**
 * Whether a checkpoint of `origin` with these checked signatures satisfies the policy. A note that isn't `ok` to
 * `checkNote` shouldn't come this far. A policy without logs is for who knows the log from elsewhere: add it to
 * `logs`, or nothing satisfies the policy.
 */
export function checkPolicy(
  policy: Policy,
  origin: string,
  verified: readonly Verified[],
): PolicyVerdict {
  const signed = ({ key }: { readonly key: VerifierKey }) =>
    verified.some((signature) => isSameKey(signature.key, key));
  const log = policy.logs.find((known) => known.key.name === origin && signed(known));
  const witnesses = policy.witnesses.filter(signed);
  if (log === undefined) {
    return { ok: false, detail: `no known log "${origin}" signed the checkpoint`, witnesses };
  }
  if (isQuorum(policy, witnesses)) return { ok: true, log, witnesses };
  const who = witnesses.map(({ name }) => name).join(', ') || 'no known witness';
  const detail = `the quorum "${policy.quorum}" isn't reached: cosigned by ${who}`;
  return { ok: false, detail, log, witnesses };
}

/** By the public key and its use: the name and the ID of a key can be made to fit another. */
function isSameKey(left: VerifierKey, right: VerifierKey): boolean {
  return left.kind === right.kind && sameBytes(left.publicKey, right.publicKey);
}

function isQuorum({ groups, quorum }: Policy, witnesses: readonly PolicyWitness[]): boolean {
  if (quorum === undefined) return true;
  const reached = new Set(witnesses.map(({ name }) => name));
  for (const { name, threshold, members } of groups) {
    if (members.filter((member) => reached.has(member)).length >= threshold) reached.add(name);
  }
  return reached.has(quorum);
}

const NONE = 'none';
const CONTROL = /[\0-\x08\n-\x1f\x7f]/;

/** A policy while its lines are read. */
class Draft {
  readonly #logs: PolicyLog[] = [];
  readonly #witnesses: PolicyWitness[] = [];
  readonly #groups: PolicyGroup[] = [];
  /** Every name of a witness or group so far, and whether a group has it as a member already. */
  readonly #names = new Map<string, 'free' | 'member'>();
  #quorum: string | undefined;

  /** Reads a line without its newline. */
  add(line: string): void {
    if (CONTROL.test(line)) {
      throw new EvidenceError('a control character other than tab; lines end in "\\n" alone');
    }
    // Only these two separate: other spaces of Unicode may be in a name.
    const [keyword, ...words] = line.split(/[ \t]/).filter((word) => word !== '');
    if (keyword === undefined || keyword.startsWith('#')) return;
    if (keyword === 'log') this.#addLog(words);
    else if (keyword === 'witness') this.#addWitness(words);
    else if (keyword === 'group') this.#addGroup(words);
    else if (keyword === 'quorum') this.#setQuorum(words);
    else throw new EvidenceError('it must begin with log, witness, group, quorum or #');
  }

  finish(): Policy {
    if (this.#quorum === undefined) {
      throw new EvidenceError(
        'policy: no line "quorum"; write "quorum none" if you need no witness',
      );
    }
    const quorum = this.#quorum === NONE ? undefined : this.#quorum;
    return { logs: this.#logs, witnesses: this.#witnesses, groups: this.#groups, quorum };
  }

  #addLog([vkey, url, ...more]: readonly string[]): void {
    if (vkey === undefined || more.length > 0) throw new EvidenceError('write: log <vkey> [<url>]');
    this.#logs.push({ key: readKey(vkey, 'ed25519', this.#logs), ...withUrl(url) });
  }

  #addWitness([name, vkey, url, ...more]: readonly string[]): void {
    if (name === undefined || vkey === undefined || more.length > 0) {
      throw new EvidenceError('write: witness <name> <vkey> [<url>]');
    }
    const key = readKey(vkey, 'cosignature', this.#witnesses);
    this.#define(name);
    this.#witnesses.push({ name, key, ...withUrl(url) });
  }

  #addGroup([name, count, ...members]: readonly string[]): void {
    if (name === undefined || count === undefined || members.length === 0) {
      throw new EvidenceError('write: group <name> all|any|<number> <name>...');
    }
    const threshold = readThreshold(count, members.length);
    for (const member of members) this.#join(member);
    this.#define(name);
    this.#groups.push({ name, threshold, members });
  }

  #setQuorum([name, ...more]: readonly string[]): void {
    if (name === undefined || more.length > 0) throw new EvidenceError('write: quorum <name>');
    if (this.#quorum !== undefined) throw new EvidenceError('a policy has one quorum only');
    if (name !== NONE && !this.#names.has(name)) throw unknownName(name);
    this.#quorum = name;
  }

  #define(name: string): void {
    if (name === NONE) throw new EvidenceError('"none" is for "quorum none" only');
    if (this.#names.has(name)) throw new EvidenceError(`"${name}" is defined twice`);
    this.#names.set(name, 'free');
  }

  /** A name counts in one group only, so that no witness counts twice. */
  #join(member: string): void {
    const use = this.#names.get(member);
    if (use === undefined) throw unknownName(member);
    if (use === 'member') throw new EvidenceError(`"${member}" is a member already`);
    this.#names.set(member, 'member');
  }
}

function unknownName(name: string): EvidenceError {
  return new EvidenceError(`no line before this one defines "${name}"`);
}

function withUrl(url: string | undefined): { url?: string } {
  return url === undefined ? {} : { url };
}

function readThreshold(count: string, members: number): number {
  if (count === 'all') return members;
  const threshold = count === 'any' ? 1 : (readInteger(count) ?? 0);
  if (threshold >= 1 && threshold <= members) return threshold;
  throw new EvidenceError(`how many must cosign is all, any, or a number from 1 to ${members}`);
}

function readKey(
  vkey: string,
  kind: SignatureKind,
  others: readonly { readonly key: VerifierKey }[],
): VerifierKey {
  const key = parseVerifierKey(vkey);
  if (key.kind !== kind) {
    const [is, needs] = kind === 'ed25519' ? ['cosigns', 'signs'] : ['signs', 'cosigns'];
    throw new EvidenceError(`${key.name} is a key that ${is}; this line needs one that ${needs}`);
  }
  if (others.some((other) => sameBytes(other.key.publicKey, key.publicKey))) {
    throw new EvidenceError(`the public key of ${key.name} is given twice`);
  }
  return key;
}
