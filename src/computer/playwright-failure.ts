/**
 * Why an action on a page failed, in a few words of our own: Playwright's hold the text that was typed, and its log.
 *
 * @module
 */

/** What Playwright's log tells, the last of them counts; `undefined` stands for what covers the element. */
const TOLD: readonly (readonly [pattern: string, words: string | undefined])[] = [
  ['intercepts pointer events', undefined],
  ['not attached to the DOM', 'is not on the screen any more'],
  ['detached from document', 'is not on the screen any more'],
  ['Execution context was destroyed', 'is not on the screen any more'],
  ['has been closed', 'is not on the screen any more'],
  ['element is not visible', 'is not visible'],
  ['element is not enabled', 'is disabled'],
  ['did not find some options', 'has no such option that is enabled'],
  ['option being selected is not enabled', 'has no such option that is enabled'],
  ['element is not editable', 'is read-only'],
  ['element is not stable', 'keeps moving'],
  ['outside of the viewport', 'is outside the window, and scrolling does not bring it in'],
  [
    'Malformed value',
    'does not take such a value (a date is YYYY-MM-DD, a time HH:MM, a colour #rrggbb)',
  ],
  ['Cannot type text into input[type=number]', 'takes numbers only'],
  ['cannot be filled', 'is not a field that can be typed into'],
  ['not an <input>', 'is not a field that can be typed into'],
  ['No element found', 'is not on the screen any more'],
];

/**
 * What is wrong with the element, as `is disabled`.
 *
 * @param cover says what lies over the element.
 */
export async function failureOf(
  error: unknown,
  timeMs: number,
  cover: () => Promise<string>,
): Promise<string> {
  const log = error instanceof Error ? error.message : '';
  let last: { readonly at: number; readonly words: string | undefined } | undefined;
  for (const [pattern, words] of TOLD) {
    const at = log.lastIndexOf(pattern);
    if (at >= 0 && (last === undefined || at > last.at)) last = { at, words };
  }
  if (last?.words !== undefined) return last.words;
  if (last === undefined) return `did not take it within ${timeMs} ms`;
  const covering = await cover().catch(() => '');
  return `is covered by ${covering === '' ? 'something' : covering}`;
}

/** Why an address could not be shown. */
export function navigationFailure(error: unknown, timeMs: number): string {
  const [first = ''] = error instanceof Error ? error.message.split('\n') : [];
  const code = /net::(?<code>ERR_[A-Z_]+)/u.exec(first)?.groups?.['code'];
  if (code === 'ERR_ABORTED') return 'was not shown: it is a download, or leads elsewhere';
  if (code !== undefined) return `could not be reached (${code})`;
  if (/download is starting/iu.test(first)) return 'was not shown: it is a download';
  if (/timeout/iu.test(first)) return `did not answer within ${timeMs} ms`;
  return 'could not be shown';
}
