/**
 * Asks an authority for a timestamp (RFC 3161).
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import { der, TAG } from '../evidence/der.ts';
import { readTrustStore } from './certificate.ts';
import { post, type PostOptions, refusal } from './post.ts';
import { verifyTimestamp } from './timestamp-verify.ts';

/** Who is asked for a timestamp. */
export interface TimestampAuthority extends PostOptions {
  readonly url: string;
  /** The certificates that are trusted, in PEM: see {@link verifyTimestamp}. */
  readonly trusted: string;
}

/** What came of it. */
export type TimestampOutcome =
  | {
      readonly outcome: 'ok';
      /** The answer as it came, which {@link verifyTimestamp} and `openssl ts -verify` check again. */
      readonly response: Uint8Array;
      /** Seconds of Unix time. */
      readonly time: number;
      /** Whom the authority's certificate is for. */
      readonly authority: string;
    }
  | {
      readonly outcome: 'refused';
      /** The status of HTTP; 200 where the answer is no timestamp that holds. */
      readonly status: number;
      readonly detail: string;
    }
  | { readonly outcome: 'unreachable'; readonly detail: string };

/** Asks an authority to stamp `data`, and checks what it answers. Throws only if nothing in `trusted` is. */
export async function requestTimestamp(
  data: Uint8Array,
  authority: TimestampAuthority,
): Promise<TimestampOutcome> {
  const { url, trusted } = authority;
  readTrustStore(trusted);
  const nonce = newNonce();
  const query = encodeTimestampQuery(data, nonce);
  const answer = await post(url, 'application/timestamp-query', query, authority);
  if (answer.status === undefined) return { outcome: 'unreachable', detail: answer.detail };
  const { status, body } = answer;
  if (status !== 200) return { outcome: 'refused', status, detail: refusal(status, body) };
  const verdict = verifyTimestamp(body, data, { trusted, nonce });
  if (!verdict.ok) return { outcome: 'refused', status, detail: verdict.detail };
  const { time, authority: name } = verdict;
  return { outcome: 'ok', response: body, time, authority: name };
}

/**
 * Writes a query (RFC 3161 §2.4.1) for the SHA-256 of `data`, which asks for the certificate too. The nonce is the
 * bytes of an integer.
 */
export function encodeTimestampQuery(data: Uint8Array, nonce: Uint8Array): Uint8Array {
  const imprint = der(
    TAG.sequence,
    SHA256,
    der(TAG.octets, createHash('sha256').update(data).digest()),
  );
  return der(
    TAG.sequence,
    der(TAG.integer, Uint8Array.of(1)),
    imprint,
    der(TAG.integer, nonce),
    der(TAG.boolean, Uint8Array.of(0xff)),
  );
}

/** SHA-256 as an algorithm: its object identifier, 2.16.840.1.101.3.4.2.1, and null for its parameters. */
const SHA256 = Buffer.from('300d06096086480165030402010500', 'hex');

/** Eight random bytes that are a positive integer, and none of them a zero at the front. */
function newNonce(): Uint8Array {
  const nonce = randomBytes(8);
  nonce[0] = ((nonce[0] ?? 0) % 64) + 64;
  return nonce;
}
