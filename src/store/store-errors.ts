/**
 * Turns the operating system's errors into words and into the store's errors.
 *
 * @module
 */
import { StoreError } from './store.ts';

/** An error's message without its stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The operating system's name of an error, as `ENOENT`; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The store's error for a file that couldn't be opened, or created. A {@link StoreError} stays what it is. */
export function openError(location: string, error: unknown, isNew = false): StoreError {
  if (error instanceof StoreError) return error;
  if (codeOf(error) === 'ENOENT' && !isNew) {
    return new StoreError('missing', `${location}: there is no such file; check the path`, {
      cause: error,
    });
  }
  const what = isNew ? 'created' : 'opened';
  return new StoreError('failed', `${location}: it can't be ${what}: ${messageOf(error)}`, {
    cause: error,
  });
}

/** The store's error for a file that couldn't be read. A {@link StoreError} stays what it is. */
export function readError(location: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (codeOf(error) === 'EISDIR') {
    const advice = 'it is a folder; name one of the files in it';
    return new StoreError('failed', `${location}: ${advice}`, { cause: error });
  }
  return new StoreError('failed', `${location}: it can't be read: ${messageOf(error)}`, {
    cause: error,
  });
}

/** The error of a file that was opened without following links: that it is one, or the error itself. */
export function throughLink(path: string, error: unknown): unknown {
  return codeOf(error) === 'ELOOP' ? linkError(path, error) : error;
}

/** The error of a link in the place of a file that nobody has named. */
export function linkError(path: string, cause?: unknown): StoreError {
  const advice = 'nothing is written through it; move it away';
  return new StoreError('failed', `${path} is a symbolic link: ${advice}`, { cause });
}
