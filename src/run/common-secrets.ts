/**
 * The patterns of secrets that have a form by which they are known; docs/redaction.md lists them.
 *
 * Every part that may repeat has a bound, or ends the match: a long text takes time in proportion to its length.
 *
 * @module
 */
import { plainForm } from './plain-form.ts';

/** What each pattern finds. */
export const PATTERNS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['an access key id of AWS', /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}\b/],
  [
    'a secret access key of AWS, by its name',
    /(?:aws_?secret_?(?:access_?)?|secret_?access_?)key\\{0,9}["']?\s{0,9}[=:]\s{0,9}\\{0,9}["']?[A-Za-z0-9/+]{40}/i,
  ],
  [
    'a token of GitHub',
    /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22})/,
  ],
  ['a token of GitLab', /(?<![A-Za-z0-9])gl(?:pat|rt)-[A-Za-z0-9_-]{20}/],
  ['a key of OpenAI, Anthropic or a service like them', /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20}/],
  ['a key of Stripe', /(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{16}/],
  ['a key of Google', /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}/],
  ['a token of Slack', /(?<![A-Za-z0-9])(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10}/],
  ['a token of npm', /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}/],
  ['a JSON Web Token', /(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,999}\.eyJ[A-Za-z0-9_-]{8}/],
  ['a private key in PEM', /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY/],
  [
    'what follows Bearer or Basic in an Authorization header, by its name',
    /authorization["']?\s{0,9}[=:]\s{0,9}["']?(?:bearer|basic)\s{1,9}[A-Za-z0-9._~+/-]{4}/i,
  ],
  [
    'what follows Bearer or Basic and is long',
    /(?<![A-Za-z0-9])(?:bearer|basic)\s{1,9}[A-Za-z0-9._~+/-]{16}/i,
  ],
  [
    'a password in a URL',
    /(?<![A-Za-z0-9])[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#:@]{0,256}:[^\s/?#@]{1,256}@/i,
  ],
];

/** What may spell other characters. */
const ESCAPE = /[%\\+]/;

/**
 * Whether a text holds a secret that has a known form: as it stands, and as JSON and addresses in it are read, where the
 * letter of an escape would stand before a token.
 *
 * @param name of the member that it is the value of.
 */
export function holdsCommonSecret(text: string, name?: string): boolean {
  const given = name === undefined ? text : `${name}: ${text}`;
  if (isFound(given)) return true;
  if (!ESCAPE.test(given)) return false;
  const form = read(given);
  // There a plus is a space, and in base64 it may be one of a key.
  return isFound(form) || isFound(form.replaceAll(' ', '+'));
}

function isFound(text: string): boolean {
  return PATTERNS.some(([, pattern]) => pattern.test(text));
}

/** The bytes of the one form, a character each: no pattern has another than ASCII. */
function read(text: string): string {
  return Buffer.from(plainForm(text, 'controls').bytes).toString('latin1');
}
