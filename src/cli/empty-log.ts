/**
 * What may be said of a transcript without records: whether it is new, or all that it had is gone.
 *
 * @module
 */
import { examineFile } from '../attest/examine-file.ts';
import { HeadMemory } from '../attest/head-memory.ts';
import { lookUp } from '../attest/look-up.ts';
import { placesIn } from '../attest/places.ts';
import { CommandError, type Io } from './io.ts';
import { oneLine } from './words.ts';

/**
 * Looks at what is known of a log that holds nothing.
 *
 * @throws {CommandError} if it held something.
 */
export async function refuseEmptied(file: string, { env }: Io): Promise<void> {
  const memory = new HeadMemory(placesIn(env).state);
  const knowledge = { keys: [], memory, listed: lookUp(), isOnlyLooking: true } as const;
  const { fault } = await examineFile(file, knowledge, { allowOpen: true });
  if (fault?.reason !== 'rolled_back') return;
  const { detail, undo } = fault;
  const purpose = undo === undefined ? '' : `; or, if it was done on purpose, ${undo}`;
  throw new CommandError(
    `${oneLine(file)}: rolled_back: ${oneLine(detail ?? '')}. It is left as it is: to go on with it would hide that. Put back the whole file${purpose}`,
  );
}
