/**
 * Where a user's key and what this user has seen are kept: the folders of the XDG Base Directory specification.
 *
 * @module
 */
import { userInfo } from 'node:os';
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
  const home = absolute(env['HOME']) ?? homeOfUser();
  return {
    config: join(absolute(env['XDG_CONFIG_HOME']) ?? join(home, '.config'), NAME),
    state: join(absolute(env['XDG_STATE_HOME']) ?? join(home, '.local', 'state'), NAME),
    cache: join(absolute(env['XDG_CACHE_HOME']) ?? join(home, '.cache'), NAME),
  };
}

const NAME = 'hashtape';

/** As the system knows it. It doesn't know every user: in a container any number may be one. */
function homeOfUser(): string {
  try {
    return absolute(userInfo().homedir) ?? '/';
  } catch {
    return '/';
  }
}

/** The specification says to ignore a relative path. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
