/**
 * What is known where transcripts are verified: the user's keys and memory, and what options add.
 *
 * @module
 */
import { InvalidArgumentError } from 'commander';
import { lookUp } from '../attest/catalog.ts';
import { type Level } from '../attest/coverage.ts';
import { type Knowledge } from '../attest/examine.ts';
import { gitNotes } from '../attest/git.ts';
import { HeadMemory } from '../attest/head-memory.ts';
import { readKeyring } from '../attest/key-file.ts';
import { placesIn } from '../attest/places.ts';
import { parseVerifierKey, type VerifierKey } from '../evidence/index.ts';
import { type Io } from './io.ts';
import { problemOf } from './words.ts';

/** What is known here. */
export async function knowledgeOf(
  io: Io,
  trusted: readonly VerifierKey[],
  required: Level | undefined,
): Promise<Knowledge> {
  const { config, state } = placesIn(io.env);
  const keys = new Map(trusted.map((key) => [`${key.name}+${key.keyId}`, key]));
  try {
    const ring = await readKeyring(config);
    for (const key of ring?.known ?? []) keys.set(`${key.name}+${key.keyId}`, key);
  } catch (error) {
    io.err.line(`your own key is not used: ${problemOf(error)}`);
  }
  return {
    keys: [...keys.values()],
    memory: new HeadMemory(state),
    required,
    listed: lookUp(),
    findGitNotes: gitNotes(),
  };
}

/** A key on the command line. */
export function trustedKey(text: string, list: readonly VerifierKey[]): readonly VerifierKey[] {
  try {
    return [...list, parseVerifierKey(text)];
  } catch (error) {
    throw new InvalidArgumentError(`${problemOf(error)}.`);
  }
}
