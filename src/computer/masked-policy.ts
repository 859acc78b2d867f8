/**
 * What policy, and a person, say of a call, without secrets: it is recorded, and the model is told.
 *
 * @module
 */
import { type Ask, type Permit } from '../run/permit.ts';
import { type Secrets } from './secrets.ts';

/** The policy of an episode, its reasons without secrets. */
export function maskedPermit(permit: Permit, secrets: Secrets): Permit {
  return (request) => masked(async () => permit(request), secrets);
}

/** The person who is asked, whose reasons are without secrets. */
export function maskedAsk(ask: Ask, secrets: Secrets): Ask {
  return (request) => masked(async () => ask(request), secrets);
}

async function masked<T extends object>(decide: () => Promise<T>, secrets: Secrets): Promise<T> {
  try {
    const answer = await decide();
    // The run says what is wrong with an answer that is none.
    const { reason }: { readonly reason?: unknown } = Object(answer);
    if (typeof reason !== 'string') return answer;
    // All else of it is as it was, also what an object of a class only gives when it is asked.
    const safe: T = Object.create(answer, { reason: { value: secrets.hideShown(reason) } });
    return safe;
  } catch (error) {
    throw secrets.hideError(error);
  }
}
