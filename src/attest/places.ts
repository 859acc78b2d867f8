/**
 * Where a user's key and what this user has seen are kept: the folders of the XDG Base Directory specification.
 *
 * @module
 */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Folders of ours, which may not be there yet. */
export interface Places {
  /** The signing key. */
  readonly config: string;
  /** The memory of heads. */
  readonly state: string;
  /** What can be computed again. */
  readonly cache: string;
}

/** The folders that an environment names, or the usual ones below the home folder. */
export function placesIn(env: NodeJS.ProcessEnv): Places {
  // A home that isn't set to anything is looked up by the system.
  const home = absolute(env['HOME']) ?? homedir();
  return {
    config: join(absolute(env['XDG_CONFIG_HOME']) ?? join(home, '.config'), NAME),
    state: join(absolute(env['XDG_STATE_HOME']) ?? join(home, '.local', 'state'), NAME),
    cache: join(absolute(env['XDG_CACHE_HOME']) ?? join(home, '.cache'), NAME),
  };
}

const NAME = 'hashtape';

/** The specification says to ignore a relative path. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
