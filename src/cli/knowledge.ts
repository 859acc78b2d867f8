/**
 * What is known where transcripts are verified: the user's keys and memory, and what options add.
 *
 * @module
 */
import { InvalidArgumentError, type Command } from 'commander';
import { bytesIfThere } from '../attest/atomic-file.ts';
import { readTrustStore } from '../attest/certificate.ts';
import { readCopy, type Copy } from '../attest/copy-file.ts';
import { type Level } from '../attest/coverage.ts';
import { type Knowledge } from '../attest/examine.ts';
import { HeadMemory } from '../attest/head-memory.ts';
import { readKeyring } from '../attest/key-file.ts';
import { lookAround } from '../attest/look-around.ts';
import { placesIn } from '../attest/places.ts';
import {
  parsePolicy,
  parseVerifierKey,
  policyKeys,
  type Policy,
  type VerifierKey,
} from '../evidence/index.ts';
import { CommandError, type Io } from './io.ts';
import { problemOf } from './words.ts';

/** What options say is known. */
export interface KnowledgeFlags {
  readonly key?: readonly VerifierKey[];
  readonly require?: readonly Level[];
  readonly policy?: Policy;
  readonly tsaRoots?: string;
  readonly copy?: readonly Copy[];
}

/** Declares them. */
export function addKnowledgeOptions(command: Command): Command {
  return command
    .option('--key <vkey>', 'a key to trust beside your own (repeatable)', trustedKey, [])
    .option('--policy <file>', 'logs, witnesses and a quorum to trust (C2SP tlog-policy)', policyIn)
    .option(
      '--tsa-roots <file>',
      'certificates of timestamp authorities to trust (PEM)',
      certificatesIn,
    );
}

/**
 * What is known here.
 *
 * @param catalogs catalogues that are asked beside those of the files' own folders.
 */
export async function knowledgeOf(
  io: Io,
  flags: KnowledgeFlags = {},
  catalogs: readonly string[] = [],
): Promise<Knowledge> {
  const { key = [], policy, tsaRoots, copy: copies, require: required } = flags;
  const { config, state } = placesIn(io.env);
  const named = policy === undefined ? [] : policyKeys(policy);
  const keys = new Map([...key, ...named].map((each) => [`${each.name}+${each.keyId}`, each]));
  const own: VerifierKey[] = [];
  try {
    const ring = await readKeyring(config);
    own.push(...(ring?.known ?? []));
    for (const each of own) keys.set(`${each.name}+${each.keyId}`, each);
  } catch (error) {
    io.err.line(`your own signatures are not known: ${problemOf(error)}`);
  }
  const known = {
    keys: [...keys.values()],
    memory: new HeadMemory(state),
    own,
    required,
    policy,
    copies,
    authorities: tsaRoots,
  };
  return lookAround(known, catalogs);
}

/** A file of notes on the command line. */
export function copyIn(path: string, list: readonly Copy[]): readonly Copy[] {
  try {
    const copy = readCopy(path);
    if (copy === null) throw new Error('there is no such file');
    return [...list, copy];
  } catch (error) {
    throw new InvalidArgumentError(`${problemOf(error)}.`);
  }
}

/** A policy file on the command line. */
export function policyIn(path: string): Policy {
  try {
    return parsePolicy(plainFile(path));
  } catch (error) {
    throw new InvalidArgumentError(`${problemOf(error)}.`);
  }
}

/** Certificates on the command line. */
export function certificatesIn(path: string): string {
  try {
    const text = plainFile(path).toString();
    readTrustStore(text);
    return text;
  } catch (error) {
    throw new InvalidArgumentError(`${problemOf(error)}.`);
  }
}

function plainFile(path: string): Buffer {
  const bytes = bytesIfThere(path);
  if (bytes === null) throw new Error('there is no such file');
  return bytes;
}

/** A key on the command line. */
export function trustedKey(text: string, list: readonly VerifierKey[]): readonly VerifierKey[] {
  // What commander says of a wrong argument repeats it.
  if (text.includes('PRIVATE+KEY')) {
    throw new CommandError(
      '--key: this is a secret key, which nobody else should see; give what `hashtape key show` prints',
    );
  }
  try {
    return [...list, parseVerifierKey(text)];
  } catch (error) {
    throw new InvalidArgumentError(`${problemOf(error)}.`);
  }
}
