/**
 * What is hidden of a text that spells a secret: what is shown of it spells none any more.
 *
 * @module
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Secrets } from '../../src/computer/secrets.ts';
import { anySpelling } from '../run/spellings.ts';

test.each<[string, string, string]>([
  ['as it is', 'You typed hunter2.', 'You typed [secret].'],
  ['as an address has it', 'at ?p=a%20b%26c&q=1', 'at ?p=[secret]&q=1'],
  ['as a form has it', 'at ?p=a+b%26c&q=1', 'at ?p=[secret]&q=1'],
  ['in lower case', 'at ?q=pass%2fw%c3%b6rd&x here', 'at [secret] here'],
  ['in JSON, then in an address', 'at ?q=%22pass%2Fw%5Cu00f6rd%22 here', 'at [secret] here'],
  ['in JSON of JSON', String.raw`said "{\"p\":\"pass\/w\u00f6rd\"}" here`, 'said [secret] here'],
  ['over two words', 'at\nthe a %62%26c of it\nhere', 'at\nthe [secret] of it\nhere'],
  ['over two lines', 'at one%2\nf%20two here', 'at [secret] here'],
  ['twice, in two ways', 'hunter2, hunt%65r2 here', '[secret], [secret] here'],
  ['a word of what is shown instead', 'a secret, %73ecret here', 'a [secret], [secret] here'],
  ['one within another', 'x hunter2%79 z', 'x [secret] z'],
  ['not at all', 'at 100% of hunt%20er2, 1+1', 'at 100% of hunt%20er2, 1+1'],
])('spelled %s', (_, text, shown) => {
  const secrets = new Secrets({
    pin: 'hunter2',
    password: 'pass/wörd',
    spaced: 'a b&c',
    lines: 'one%2\nf two',
    secret: 'secret',
    longer: 'hunter2y',
  });
  expect(secrets.hide(text)).toBe(shown);
});

test.each<[string, string, string]>([
  ['é12', String.raw`{"cvv":"\u00e912"}`, '[secret]'],
  ['é12', 'to q=%c3%A912 now', 'to [secret] now'],
  ['p/q', String.raw`to "p\/q" now`, 'to [secret] now'],
  ['p/q', 'to p%2fq now', 'to [secret] now'],
])('%s, of three characters, in %s', (pin, text, shown) => {
  expect(new Secrets({ pin }).hide(text)).toBe(shown);
});

test('a newline is no letter n, and a secret on a page leaves the rest of it', () => {
  const page = 'Shop\nSale: 20% off\nMilk\nice cream\nBread';
  expect(new Secrets({ t: 'nice' }).hide(page)).toBe(page);
  const spread = 'Shop\nSale: %32%30% off\nMilk\n\nBread, %32%30%25 off, all';
  expect(new Secrets({ t: '20% off' }).hide(spread)).toBe(
    'Shop\nSale: [secret]\nMilk\n\nBread, [secret] all',
  );
});

test('in any mix of spellings, and the rest of the page is shown', () => {
  const secret = 'p/a ss"wörd+1%\\😀';
  fc.assert(
    fc.property(anySpelling(secret), ({ text }) => {
      const hidden = new Secrets({ secret }).hide(`before\nIt is ${text} there\nafter`);
      expect(hidden).toMatch(/^before\n.*\[secret\].*\nafter$/u);
      // Not even most of it, in the letters that need no spelling.
      expect(hidden).not.toContain('rd');
    }),
    { numRuns: 2000 },
  );
});

test.each<[string, string, string]>([
  ['a label', 'AAAhunter2-ze…', 'AAA[secret]…'],
  ['two letters', 'AAAhu…', 'AAA[secret]…'],
  [
    'a notice',
    '[dialog alert] "AAA hunter…" (accepted)',
    '[dialog alert] "AAA [secret]…" (accepted)',
  ],
  ['an address', 'http://x/?p=a%20b%2…', 'http://x/?p=[secret]…'],
  ['an address, in lower case', 'http://x/?p=%c3%b6ff…', 'http://x/?p=[secret]…'],
  ['one after another', 'hunt… and hunter2-z…', '[secret]… and [secret]…'],
  ['one that is whole', 'hunter2-zebra…', '[secret]…'],
  ['one letter', 'such…', 'such…'],
  ['none', 'the hunt, and more…', 'the hunt, and more…'],
])('what a cut has left of it: %s', (_, text, shown) => {
  const secrets = new Secrets({ pin: 'hunter2-zebra', spaced: 'a b&c', offen: 'öffnen' });
  const { elements, ...rest } = secrets.hideOn({
    elements: [{ label: text, kind: text, value: text, x: 0, y: 0, width: 1, height: 1 }],
    text,
    title: text,
  });
  expect(elements[0]).toMatchObject({ label: shown, kind: shown, value: shown });
  expect(rest).toEqual({ text: shown, title: shown });
});

test.each([
  ['hunter2zz\n', 'Signed in with hunter2zz'],
  [' hunter2zz', 'Signed in with hunter2zz'],
  ['correct horse  battery', 'It is correct horse battery'],
  ['-----KEY-----\r\nABCD\r\n\r\nEFGH\r\n', 'Stored -----KEY----- ABCD EFGH'],
  ['-----KEY-----\nABCD\n\n  EFGH\n', 'Stored\n-----KEY-----\nABCD\nEFGH\nand more'],
  ['hunter2\nzz', 'Signed in with hunter2zz'],
])('%j as a field or a look makes it, in %j', (secret, text) => {
  const secrets = new Secrets({ secret });
  expect(secrets.hide(text)).toMatch(/\[secret\]/);
  for (const part of ['hunter2', 'horse', 'ABCD', 'EFGH'])
    expect(secrets.hideShown(text)).not.toContain(part);
  const value = secret.trim();
  const element = { label: 'Field', kind: 'textbox', value, x: 0, y: 0, width: 1, height: 1 };
  expect(secrets.hideOn({ elements: [element], text }).elements[0]).not.toHaveProperty('value');
});
