/**
 * Signed notes: others' vectors, what is refused, and that nothing but a note comes through.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nodeEd25519 } from '../../src/evidence/ed25519-node.ts';
import { webEd25519 } from '../../src/evidence/ed25519-web.ts';
import { encodeBase64, EvidenceError, utf8 } from '../../src/evidence/encoding.ts';
import {
  encodeSignerKey,
  encodeVerifierKey,
  parseSignerKey,
  parseVerifierKey,
  signerKey,
  verifierKey,
} from '../../src/evidence/note-key.ts';
import { checkNote, signNote } from '../../src/evidence/note-signature.ts';
import { encodeNote, parseNote } from '../../src/evidence/note.ts';
import { arbitraryNote, KEY, rejected } from './notes.ts';
import { flips, hex, vectors } from './vectors.ts';

interface Opened {
  name: string;
  vkeys: string[];
  note: string;
  verified?: string[];
  unverified?: string[];
  error?: string;
}

const published = vectors('signed-note.json') as {
  sign: { skey: string; text: string; note: string };
  badVkeys: string[];
  open: Opened[];
  malformed: string[];
};
const { sign } = published;
const PETER = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';

describe('what Go and C2SP publish', () => {
  test('the key of Go signs to the same byte', () => {
    const key = parseSignerKey(sign.skey, nodeEd25519);
    expect(encodeSignerKey(key)).toBe(sign.skey);
    expect(encodeVerifierKey(key.verifier)).toBe(PETER);
    const note = signNote({ text: sign.text, signatures: [] }, key, nodeEd25519);
    expect(encodeNote(note)).toBe(sign.note);
  });

  test.each(published.open)('$name', async ({ vkeys, note, verified, unverified, error }) => {
    const open = async () => checkNote(parseNote(note), vkeys.map(parseVerifierKey), nodeEd25519);
    if (error === 'malformed note') {
      await expect(open()).rejects.toThrow('over 100 signatures');
    } else if (error?.startsWith('ambiguous') === true) {
      await expect(open()).rejects.toThrow('given twice');
    } else {
      const verdict = await open();
      expect(verdict.ok).toBe(error === undefined);
      expect(verdict.wrong.length > 0).toBe(error === 'invalid signature');
      if (verified !== undefined) {
        expect(verdict.verified.map(({ key }) => key.name)).toEqual(verified);
        expect(verdict.unknown.map(({ name }) => name)).toEqual(unverified);
      }
    }
  });

  test.each(published.malformed.filter((text) => !text.startsWith('(')))(
    'malformed: %j',
    (text) => {
      expect(rejected(() => parseNote(text))).toMatch(/^note: /);
    },
  );

  test('a byte that is no UTF-8', () => {
    const bytes = Uint8Array.of(0xff, ...utf8(sign.note));
    expect(rejected(() => parseNote(bytes))).toBe('note: not valid UTF-8');
  });

  test.each(published.badVkeys.filter((text) => !text.startsWith('(')))('no key: %s', (text) => {
    rejected(() => parseVerifierKey(text));
  });

  test('nor is any piece of a key, or a key with any character changed to the next', () => {
    for (let from = 0; from < PETER.length; from += 1) {
      for (let to = from; to <= PETER.length; to += 1) {
        if (to - from < PETER.length) rejected(() => parseVerifierKey(PETER.slice(from, to)));
      }
      const next = String.fromCharCode(PETER.charCodeAt(from) + 1);
      rejected(() => parseVerifierKey(PETER.slice(0, from) + next + PETER.slice(from + 1)));
    }
  });

  test('both keys that were published are read and written', () => {
    for (const text of new Set(published.open.flatMap(({ vkeys }) => vkeys))) {
      expect(encodeVerifierKey(parseVerifierKey(text))).toBe(text);
    }
  });
});

describe('keys', () => {
  const seed = hex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60');

  test.each(['', 'a b', 'a+b', 'a\u00a0b', 'a\u2028', 'a\nb', 'a\u0001', '\u0000', '\ud800'])(
    'a key is not called %j',
    (name) => {
      rejected(() => verifierKey(name, seed));
    },
  );

  test('other lengths and other algorithms are refused', () => {
    expect(rejected(() => verifierKey('a', seed.subarray(1)))).toContain('32 bytes');
    expect(rejected(() => signerKey('a', seed.subarray(1), nodeEd25519))).toContain('32 bytes');
    const mldsa = `a+00000000+${Buffer.of(6, ...seed).toString('base64')}`;
    expect(rejected(() => parseVerifierKey(mldsa))).toContain('only Ed25519');
    expect(rejected(() => parseSignerKey(PETER, nodeEd25519))).toContain('PRIVATE+KEY+');
  });

  test('a cosignature key of the same bytes is another key', () => {
    const plain = verifierKey('a', seed);
    const cosigner = verifierKey('a', seed, 'cosignature');
    expect(cosigner.keyId).not.toBe(plain.keyId);
    expect(parseVerifierKey(encodeVerifierKey(cosigner))).toEqual(cosigner);
  });

  test('every key that is made is read again, and its secret is in no message', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-zé/.-]{1,20}$/u),
        fc.constantFrom('ed25519' as const, 'cosignature' as const),
        (name, kind) => {
          const key = signerKey(name, nodeEd25519.generate(), nodeEd25519, kind);
          const text = encodeSignerKey(key);
          expect(parseSignerKey(text, nodeEd25519)).toEqual(key);
          expect(parseVerifierKey(encodeVerifierKey(key.verifier))).toEqual(key.verifier);
          const other = text.replace(`${key.verifier.keyId}+`, '00000000+');
          const message = rejected(() => parseSignerKey(other, nodeEd25519));
          expect(message).not.toContain(text.slice(-40));
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('strict', () => {
  const note = encodeNote(signNote({ text: 'a\n', signatures: [] }, KEY, nodeEd25519));
  const line = note.slice(note.indexOf('— '));
  const shorter = `— ${KEY.verifier.name} ${encodeBase64(hex(`${KEY.verifier.keyId}ff`))}\n`;

  test.each([
    ['nothing', '', 'no blank line'],
    ['a carriage return', note.replace('a\n', 'a\r\n'), 'a control character'],
    ['a tab', note.replace('a\n', 'a\t\n'), 'a control character'],
    ['a zero byte', `\0${note}`, 'a control character'],
    ['half a surrogate pair', `\ud800${note}`, 'not valid Unicode'],
    ['a signature twice', note + line, 'two signatures of one key'],
    ['another signature of one key', note + shorter, 'two signatures of one key'],
    ['a space more', note.replace(/\n$/, ' \n'), 'signature line 1'],
    ['two spaces', note.replace('— ', '—  '), 'signature line 1'],
    ['a hyphen for the dash', note.replace('— ', '- '), 'signature line 1'],
    ['a plus in the name', note.replace('— ', '— a+'), 'signature line 1'],
    ['a no-break space in the name', note.replace('— ', '— a\u00a0'), 'signature line 1'],
    ['a blank line at the end', `${note}\n`, 'no signature'],
    ['base64 with stray bits', 'a\n\n— a AAAAAAF=\n', 'base64'],
    ['base64 without padding', 'a\n\n— a AAAAAAA\n', 'base64'],
    ['a key ID and no signature', 'a\n\n— a AAAAAA==\n', 'base64'],
    ['base64 for URLs', 'a\n\n— a AAAAA_A=\n', 'signature line 1'],
    ['a megabyte', `${'a'.repeat(1_000_000)}${note}`, 'over 1000000 bytes'],
  ])('%s is refused', (_, text, message) => {
    expect(rejected(() => parseNote(text))).toContain(message);
    if (text.isWellFormed()) expect(rejected(() => parseNote(utf8(text)))).toContain(message);
  });

  test('100 signatures are read, 101 are not', () => {
    const lines = Array.from({ length: 101 }, (_, i) => line.replace('— ', `— ${i}-`));
    expect(parseNote(`a\n\n${lines.slice(1).join('')}`).signatures).toHaveLength(100);
    expect(rejected(() => parseNote(`a\n\n${lines.join('')}`))).toContain('over 100');
  });

  test('the last blank line divides, and a byte order mark is text', () => {
    const text = '\ufeffone\n\n— not a signature\n\n\ntwo\n';
    const signed = signNote({ text, signatures: [] }, KEY, nodeEd25519);
    expect(parseNote(utf8(encodeNote(signed)))).toEqual(signed);
  });

  test.each([
    ['no signature', { text: 'a\n', signatures: [] }],
    ['no newline after the text', { text: 'a\n\nb', signatures: [entry({})] }],
    ['a signature for a last line', { text: 'a\n\n— a AAAAAAA=', signatures: [entry({})] }],
    ['no text', { text: '', signatures: [entry({})] }],
    ['a name of two words', { text: 'a\n', signatures: [entry({ name: 'a b' })] }],
    ['a name of two lines', { text: 'a\n', signatures: [entry({ name: 'b AAAAAAA=\n— a' })] }],
    [
      'a name with a blank line',
      { text: 'a\n', signatures: [entry({ name: 'b AAAAAAA=\n\n— a' })] },
    ],
    ['an ID in capitals', { text: 'a\n', signatures: [entry({ keyId: 'ABCDEF01' })] }],
    [
      'a short ID',
      { text: 'a\n', signatures: [entry({ keyId: 'abcdef', signature: hex('ffff') })] },
    ],
    ['an empty signature', { text: 'a\n', signatures: [entry({ signature: hex('') })] }],
  ])('%s is not written', (_, unfit) => {
    rejected(() => encodeNote(unfit));
  });
});

function entry(change: { name?: string; keyId?: string; signature?: Uint8Array }) {
  return { name: 'a', keyId: '01020304', signature: hex('ff'), ...change };
}

describe('signatures', () => {
  const other = signerKey('other', nodeEd25519.generate(), nodeEd25519);

  test('every bit of a note matters', async () => {
    const bytes = utf8(encodeNote(signNote({ text: 'ab\nc\n', signatures: [] }, KEY, nodeEd25519)));
    for (const flipped of flips(bytes)) {
      let ok = false;
      try {
        ok = (await checkNote(parseNote(flipped), [KEY.verifier], nodeEd25519)).ok;
      } catch (error) {
        expect(error).toBeInstanceOf(EvidenceError);
      }
      expect(ok).toBe(false);
    }
  });

  test('of a known name with another ID, or the same ID with another name, are unknown', async () => {
    const { signatures } = signNote({ text: 'a\n', signatures: [] }, KEY, nodeEd25519);
    const [made] = signatures;
    for (const strange of [
      { ...made!, name: 'x' },
      { ...made!, keyId: '00000000' },
    ]) {
      const note = { text: 'a\n', signatures: [strange] };
      const verdict = await checkNote(note, [KEY.verifier], nodeEd25519);
      expect(verdict).toEqual({ ok: false, verified: [], unknown: [strange], wrong: [] });
    }
  });

  test('one wrong signature of a known key outweighs a right one', async () => {
    const signed = signNote({ text: 'a\n', signatures: [] }, KEY, nodeEd25519);
    const twice = signNote(signed, other, nodeEd25519);
    const [first, second] = twice.signatures;
    const forged = { ...second!, signature: first!.signature };
    const note = { text: 'a\n', signatures: [first!, forged] };
    const keys = [KEY.verifier, other.verifier];
    expect(await checkNote(note, keys, nodeEd25519)).toEqual({
      ok: false,
      verified: [{ key: KEY.verifier }],
      unknown: [],
      wrong: [forged],
    });
  });

  test('signing again replaces the signature, and keeps those of others', () => {
    const once = signNote({ text: 'a\n', signatures: [] }, KEY, nodeEd25519);
    const both = signNote(once, other, nodeEd25519);
    expect(signNote(both, KEY, nodeEd25519).signatures).toEqual(both.signatures.toReversed());
  });

  test('a browser sees the same', async () => {
    const note = signNote({ text: 'a\n', signatures: [] }, KEY, nodeEd25519);
    expect((await checkNote(note, [KEY.verifier], webEd25519)).ok).toBe(true);
    const changed = { ...note, text: 'b\n' };
    expect((await checkNote(changed, [KEY.verifier], webEd25519)).ok).toBe(false);
  });
});

describe('any input', () => {
  test('every note that can be written is read as it was', () => {
    fc.assert(
      fc.property(arbitraryNote, (note) => {
        const text = encodeNote(note);
        expect(parseNote(text)).toEqual(note);
        expect(parseNote(utf8(text))).toEqual(note);
      }),
    );
  });

  test('bytes, texts and damaged notes are either a note to the byte or an EvidenceError', () => {
    const damaged = fc
      .tuple(arbitraryNote, fc.nat(), fc.nat(3), fc.string({ unit: 'binary', maxLength: 3 }))
      .map(([note, at, cut, insert]) => {
        const text = encodeNote(note);
        const place = at % (text.length + 1);
        return text.slice(0, place) + insert + text.slice(place + cut);
      });
    const lines = fc
      .array(fc.constantFrom('\n', '— ', 'a', ' ', 'AAAAAAA=', '+', '\n\n', '—', '\ud800'))
      .map((parts) => parts.join(''));
    const input = fc.oneof(damaged, lines, fc.uint8Array(), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(input, (given) => {
        try {
          const written = encodeNote(parseNote(given));
          expect(typeof given === 'string' ? written : utf8(written)).toEqual(given);
        } catch (error) {
          expect(error).toBeInstanceOf(EvidenceError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('and so is what might be a key', () => {
    const parts = fc.array(
      fc.oneof(
        fc.constantFrom('PRIVATE+KEY+', '+', 'c74f20a3', 'PeterNeumann', 'AQ==', PETER, sign.skey),
        fc.string({ maxLength: 4 }),
      ),
    );
    fc.assert(
      fc.property(parts, (pieces) => {
        const text = pieces.join('');
        for (const read of [
          () => encodeVerifierKey(parseVerifierKey(text)),
          () => encodeSignerKey(parseSignerKey(text, nodeEd25519)),
        ]) {
          try {
            expect(read()).toBe(text);
          } catch (error) {
            expect(error).toBeInstanceOf(EvidenceError);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });
});
