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

/** SHA-256 of bytes, one character per byte: half the hex form's characters, where only comparing is wanted. */
export function sha256Binary(data: Uint8Array): string {
  return hash('sha256', data, 'binary');
}

/** SHA-256 of bytes, as bytes. */
export function sha256(data: Uint8Array): Uint8Array {
  // Through a string: that is half the cost of a Buffer made for 32 bytes.
  const digest = sha256Binary(data);
  const bytes = new Uint8Array(32);
  for (let i = 0; i < 32; i += 1) bytes[i] = digest.charCodeAt(i);
  return bytes;
}
