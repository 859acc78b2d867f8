/**
 * Optional peers: provider SDKs that are loaded when a model is first asked.
 *
 * @module
 */
import { ModelError } from '../run/model.ts';

/**
 * Imports a package that may be missing.
 *
 * @throws {ModelError} that says what to install, if the package isn't there.
 */
export async function loadPeer<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    throw new ModelError(`the package ${name} is not installed: run \`npm install ${name}\``, [], {
      cause: error,
    });
  }
}

/** Whether the package itself is missing, rather than something that it needs. */
function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  const missing = error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND';
  return missing && error.message.includes(`'${name}'`);
}
