/**
 * Colours and emphasis, only where they are wanted.
 *
 * @module
 */
import { styleText } from 'node:util';

/** What a piece of text is, rather than how it looks. */
export type Look = 'good' | 'bad' | 'warning' | 'quiet' | 'strong';

/** Styles a text, or leaves it as it is. */
export type Style = (look: Look, text: string) => string;

const FORMATS = {
  good: 'green',
  bad: 'red',
  warning: 'yellow',
  quiet: 'dim',
  strong: 'bold',
} as const satisfies Record<Look, Parameters<typeof styleText>[0]>;

/** The style of a stream: none if it can't or mustn't show any (https://no-color.org). */
export function styleFor(terminal: boolean, env: NodeJS.ProcessEnv): Style {
  const noColor = env['NO_COLOR'];
  if (!terminal || (noColor !== undefined && noColor !== '')) return (_look, text) => text;
  return (look, text) => styleText(FORMATS[look], text, { validateStream: false });
}
