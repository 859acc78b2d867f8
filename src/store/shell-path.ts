/**
 * Paths in commands that are printed for somebody to paste into a shell.
 *
 * @module
 */

/** A path as a POSIX shell takes it, as one word that is no option and in which nothing is run. */
export function shellPath(path: string): string {
  const named = path.startsWith('-') ? `./${path}` : path;
  if (/^[\w@%+=:,./-]+$/.test(named)) return named;
  return `'${named.replaceAll("'", String.raw`'\''`)}'`;
}
