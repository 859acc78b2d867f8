/**
 * The patterns of secrets that have a form by which they are known; docs/redaction.md lists them.
 *
 * Every part that may repeat has a bound, or ends the match: a long text takes time in proportion to its length.
 *
 * @module
 */

/** What each pattern finds. */
export const PATTERNS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['an access key id of AWS', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/],
  [
    'a secret access key of AWS, by its name',
    /aws_?secret_?(?:access_?)?key["']?\s{0,9}[=:]\s{0,9}["']?[A-Za-z0-9/+]{40}/i,
  ],
  ['a token of GitHub', /\bgh[pousr]_[A-Za-z0-9]{36}|\bgithub_pat_[A-Za-z0-9_]{22}/],
  ['a token of GitLab', /\bglpat-[A-Za-z0-9_-]{20}/],
  ['a key of OpenAI, Anthropic or a service like them', /\bsk-[A-Za-z0-9_-]{20}/],
  ['a key of Stripe', /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16}/],
  ['a key of Google', /\bAIza[A-Za-z0-9_-]{35}/],
  ['a token of Slack', /\bxox[abeoprs]-[A-Za-z0-9-]{10}/],
  ['a token of npm', /\bnpm_[A-Za-z0-9]{36}/],
  ['a JSON Web Token', /\beyJ[A-Za-z0-9_-]{8,999}\.eyJ[A-Za-z0-9_-]{8}/],
  ['a private key in PEM', /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY/],
  [
    'what follows Bearer or Basic in an Authorization header',
    /\b(?:bearer|basic)\s{1,9}[A-Za-z0-9._~+/-]{16}/i,
  ],
  ['a password in a URL', /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#:@]{0,256}:[^\s/?#@]{1,256}@/i],
];

/** Whether a text holds a secret that has a known form. */
export function holdsCommonSecret(text: string): boolean {
  return PATTERNS.some(([, pattern]) => pattern.test(text));
}
