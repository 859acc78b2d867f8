/**
 * Asks others for their word on a checkpoint: an authority for a timestamp, witnesses for cosignatures.
 *
 * @module
 */
import { noteAnchor } from '../attest/anchors-file.ts';
import { alone } from '../attest/atomic-file.ts';
import { CheckpointWriter, readCheckpoints } from '../attest/checkpoint-file.ts';
import { consistencyOf } from '../attest/consistency.ts';
import { requestTimestamp } from '../attest/timestamp.ts';
import { cosign } from '../attest/witness-client.ts';
import { toHex } from '../evidence/hex.ts';
import { parseCheckpoint, type Note, type Policy } from '../evidence/index.ts';
import { type Io } from './io.ts';
import { oneLine, timeWords } from './words.ts';

/** Who is asked. */
export interface Elsewhere {
  readonly tsa?: string;
  readonly tsaRoots?: string;
  readonly policy?: Policy;
}

/** Asks all of them, and says what each did; whether all gave their word. */
export async function askOthers(
  path: string,
  note: Note,
  { tsa, tsaRoots, policy }: Elsewhere,
  io: Io,
): Promise<boolean> {
  const stamped =
    tsa === undefined || tsaRoots === undefined || (await stamp(path, note, { tsa, tsaRoots }, io));
  const cosigned = policy === undefined || (await witness(path, note, policy, io));
  return stamped && cosigned;
}

async function stamp(
  path: string,
  { text }: Note,
  { tsa, tsaRoots }: { readonly tsa: string; readonly tsaRoots: string },
  io: Io,
): Promise<boolean> {
  const found = await requestTimestamp(Buffer.from(text), { url: tsa, trusted: tsaRoots });
  if (found.outcome !== 'ok') {
    io.err.line(`  --tsa: ${oneLine(found.outcome)}: ${oneLine(found.detail)}`);
    return false;
  }
  const { size, root } = parseCheckpoint(text);
  const response = Buffer.from(found.response).toString('base64');
  await noteAnchor(path, { kind: 'timestamp', size, root: toHex(root), response });
  const time = timeWords(new Date(found.time * 1000).toISOString());
  io.out.line(`  stamped ${time} by ${oneLine(found.authority)}`);
  return true;
}

/** Asks each witness that can be asked; what they sign is kept as one checkpoint. */
async function witness(path: string, note: Note, policy: Policy, io: Io): Promise<boolean> {
  const { size } = parseCheckpoint(note.text);
  const consistency = await consistencyOf(path, size);
  let cosigned = note;
  let all = true;
  for (const { name, key, url } of policy.witnesses) {
    if (url === undefined) continue;
    const found = await cosign({ url, key }, { note: cosigned, oldSize: 0, consistency });
    if (found.outcome === 'ok') {
      cosigned = found.note;
      io.out.line(`  cosigned by ${oneLine(name)}`);
    } else {
      all = false;
      io.err.line(`  witness ${oneLine(name)}: ${found.outcome}: ${oneLine(found.detail)}`);
    }
  }
  if (cosigned !== note) all = (await alone(path, () => keep(path, cosigned, size, io))) && all;
  return all;
}

/** A run may have gone on while the witnesses were asked, and no statement is of less than the one before it. */
async function keep(path: string, note: Note, size: number, io: Io): Promise<boolean> {
  const newest = readCheckpoints(path)?.checkpoints.at(-1)?.checkpoint.size ?? 0;
  if (newest > size) {
    io.err.line(
      `  --policy: the log has ${newest} records by now, so what was cosigned of ${size} isn't kept; try again`,
    );
    return false;
  }
  await new CheckpointWriter(path).append(note);
  return true;
}
