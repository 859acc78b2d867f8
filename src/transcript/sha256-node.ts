/**
 * SHA-256 by Node's OpenSSL; `#sha256` in package.json chooses this file there.
 *
 * @module
 */
import { hash } from 'node:crypto';

/** Lower-case hex SHA-256 of bytes, or of the UTF-8 form of a string. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}
