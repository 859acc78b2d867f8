/**
 * Verifies a transcript file with the evidence around it.
 *
 * @module
 */
import { feed } from '../store/verify-file.ts';
import { pathText } from '../store/place.ts';
import { createVerifier, unreadable, type VerifyOptions } from '../transcript/index.ts';
import { Examination, type Examined, type Knowledge } from './examine.ts';

/**
 * Verifies the file at `path`: its chain, and what checkpoints, memory, catalogue and anchors say of it, as far as
 * `knowledge` names them. It never rejects for what the file holds. What holds is remembered, if there is a memory.
 */
export async function examineFile(
  path: string | URL,
  knowledge: Knowledge,
  options: VerifyOptions = {},
): Promise<Examined> {
  const examination = await Examination.of(pathText(path), knowledge);
  const verifier = createVerifier(options, examination.onRecord);
  const problem = await feed(path, verifier);
  return examination.end(problem === null ? verifier.end() : unreadable(problem));
}
