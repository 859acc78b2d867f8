/**
 * Misspelt names. A member that is nearly one of ours was meant to be it.
 *
 * @module
 */

/** Whether a word is another with up to two letters more, less or changed, whatever their case. */
export function isMisspelt(word: string, right: string): boolean {
  const [a, b] = [word.toLowerCase(), right.toLowerCase()];
  let before = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (before[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(changed, (before[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    before = row;
  }
  return (before.at(-1) ?? 0) <= 2 && a.length > 3;
}
