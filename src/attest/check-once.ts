/**
 * Signatures that are checked once: in a file that somebody wrote, the same one may stand any number of times.
 *
 * @module
 */
import { type Ed25519Verifier } from '../evidence/ed25519.ts';

/** A verifier that remembers its answers, for as long as it is kept itself. */
export function onceEach(ed25519: Ed25519Verifier): Ed25519Verifier {
  const answers = new Map<string, ReturnType<Ed25519Verifier['verify']>>();
  return {
    verify(publicKey, message, signature) {
      // The lengths tell where one ends, as a forger chooses what is in the others.
      const parts = [publicKey, signature, message].map((part) => Buffer.from(part));
      const lengths = parts.map((part) => part.length).join(' ');
      const asked = `${lengths} ${Buffer.concat(parts).toString('latin1')}`;
      const answer = answers.get(asked) ?? ed25519.verify(publicKey, message, signature);
      answers.set(asked, answer);
      return answer;
    },
  };
}
