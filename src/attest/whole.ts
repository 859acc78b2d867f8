/**
 * Whether a log that is gone from its place lies whole in another file.
 *
 * @module
 */
import { readRecords } from '../store/read.ts';
import { type SeenHead } from './head-memory.ts';
import { Roots } from './roots.ts';

/** How a log stood. */
export type Stood = Pick<SeenHead, 'log' | 'kind' | 'size' | 'root'>;

/** Tells whether the log in a file stood so once. It never rejects. */
export type Holds = (file: string, stood: Stood) => Promise<boolean>;

/** The same of transcripts alone: what an audit log is, others know. */
export const holdsRecords: Holds = async (file, { kind, size, root }) => {
  if (kind !== 'transcript') return false;
  const roots = new Roots();
  roots.want(size);
  try {
    for await (const { hash } of readRecords(file)) {
      roots.add(hash);
      if (roots.size >= size) break;
    }
  } catch {
    // It is damaged before that, or can't be read.
  }
  return roots.at(size) === root;
};

/**
 * Whether a log that stands as `now` in a file has all that it had once. A smaller one hasn't; a larger one is read, as anybody
 * can add records to the beginning of another.
 */
export async function hasAll(
  file: string,
  now: { readonly size: number; readonly root: string | undefined },
  was: Stood,
  holds: Holds,
): Promise<boolean> {
  if (now.size === was.size) return now.root === was.root;
  return now.size > was.size && holds(file, was);
}
