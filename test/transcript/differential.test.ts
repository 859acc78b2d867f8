/**
 * docs/verify.py, which was written from the specification alone, gives the same verdicts.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import {
  GENESIS,
  MAX_LINE_BYTES,
  verifyTranscript,
  type Verdict,
  type VerifyOptions,
} from '../../src/transcript/index.ts';
import { hasPython, NEEDS_PYTHON, python } from './python.ts';
import { files } from './random.ts';
import { bytesOf, chain, hashed, hashOf, SAMPLE, sha256 } from './sample.ts';
import { LARGE_TAMPERS, TAMPERS } from './tampers.ts';

const verifier = fileURLToPath(new URL('../../docs/verify.py', import.meta.url));
const seeds = fileURLToPath(new URL('../testdata/seeds/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'hashtape-differential-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What both must agree on: all but the words of the detail. */
function essence({ ok, count, head, sealed, fault }: Verdict): unknown {
  const place = fault && { seq: fault.seq, line: fault.line, reason: fault.reason };
  return { ok, count, head, sealed, fault: place };
}

interface Answer {
  readonly status: number;
  readonly verdicts: readonly (Verdict & { readonly file: string })[];
}

/** One run of verify.py over many files. */
function ask(options: readonly string[], contents: readonly Uint8Array[]): Answer {
  contents.forEach((bytes, i) => writeFileSync(join(folder, String(i)), bytes));
  return askFiles(
    options,
    contents.map((_, i) => join(folder, String(i))),
  );
}

function askFiles(options: readonly string[], paths: readonly string[]): Answer {
  const { status, stdout } = python([verifier, ...options, ...paths]);
  const lines = stdout.trimEnd().split('\n');
  return { status, verdicts: lines.map((line): Answer['verdicts'][number] => JSON.parse(line)) };
}

function expectAgreement(
  contents: readonly Uint8Array[],
  flags: readonly string[],
  options: VerifyOptions,
): void {
  const { status, verdicts } = ask(flags, contents);
  expect(verdicts.length).toBe(contents.length);
  const ours = contents.map((bytes) => verifyTranscript(bytes, options));
  verdicts.forEach((theirs, i) => {
    const mine = ours[i];
    if (mine === undefined) throw new RangeError(`no verdict ${i}`);
    const content = Buffer.from(contents[i] ?? [])
      .toString('latin1')
      .slice(0, 2000);
    expect(essence(theirs), content).toEqual(essence(mine));
  });
  expect(status).toBe(ours.every(({ ok }) => ok) ? 0 : 1);
}

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

describe.skipIf(!hasPython)(`docs/verify.py agrees${NEEDS_PYTHON}`, () => {
  test('on the seed’s files', () => {
    const names = readdirSync(seeds).filter((name) => /^transcript_.*\.jsonl$/.test(name));
    expect(names.length).toBe(28);
    const contents = names.map((name) => readFileSync(join(seeds, name)));
    expectAgreement(contents, [], {});
    expectAgreement(contents, ['--allow-open'], { allowOpen: true });
  });

  test('on the table of tampers', () => {
    const contents = TAMPERS.map(({ bytes }) => bytes);
    expectAgreement(contents, [], {});
    const head = hashOf(chain(SAMPLE)[5] ?? '');
    expectAgreement(contents, ['--count', '6'], { count: 6 });
    expectAgreement(contents, ['--head', head, '--allow-open'], { head, allowOpen: true });
    const upper = head.toUpperCase();
    expectAgreement(contents, ['--head', upper, '--allow-open'], { head: upper, allowOpen: true });
  });

  test('on nesting of any depth', () => {
    const contents = LARGE_TAMPERS.map(({ bytes }) => bytes);
    expectAgreement(contents, [], {});
  });

  test('on thousands of generated files, whole and damaged', () => {
    const contents = files(2026, 3000);
    const reasons = new Set(contents.map((bytes) => verifyTranscript(bytes).fault?.reason));
    expect(reasons.size).toBeGreaterThanOrEqual(12); // the generator reaches nearly all of them
    expectAgreement(contents, ['--allow-open'], { allowOpen: true });
  });

  test('on every cut, and on a change of every byte', () => {
    const good = bytesOf(chain(SAMPLE).join(''));
    const contents: Uint8Array[] = [];
    for (let at = 0; at < good.length; at += 1) {
      contents.push(good.subarray(0, at));
      for (const bit of [0x01, 0x20]) {
        const bytes = good.slice();
        bytes[at] = (bytes[at] ?? 0) ^ bit;
        contents.push(bytes);
      }
    }
    expectAgreement(contents, [], {});
  });

  test('on lines at the limit of their length', () => {
    const spaces = Buffer.alloc(MAX_LINE_BYTES + 2, 0x20);
    const ended = Buffer.from(spaces);
    ended[MAX_LINE_BYTES + 1] = 0x0a;
    // Too long, cut, and too long.
    const contents = [spaces, spaces.subarray(1), ended];
    expectAgreement(contents, [], {});
  });

  test('on lines too long to be read into values', () => {
    const filler = '[],'.repeat(100_000);
    const content = `"kind":"final","payload":[${filler}1],"prev":"${GENESIS}","seq":0}`;
    const good = `{"hash":"${sha256(`{${content}`)}",${content}\n`;
    const texts = [
      good,
      good.replace(',1]', ',2]'),
      good.replace(',1]', ', 1]'),
      good.replace(',1]', ',1.50]'),
      good.replace('"seq":0', '"seq":1'),
      good.replace('"seq":0', '"seq":0,"zeta":{}'),
      good.replace('"kind":"final",', ''),
      good.replace(',1]', ']'),
      `${'['.repeat(300_000)}\n`,
      `[${filler}1]\n${good}`,
      `${' '.repeat(300_000)}\n${good}`,
      // A record's own object is one of the million.
      hashed(`"kind":"final","payload":${nested(1_000_000)},"prev":"${GENESIS}","seq":0}`),
      hashed(`"kind":"final","payload":${nested(1_000_001)},"prev":"${GENESIS}","seq":0}`),
    ];
    expectAgreement(texts.map(bytesOf), [], {});
  });

  test.each([
    ['--head', 'abc'],
    ['--head', `${'0'.repeat(63)}g`],
    ['--count', '-1'],
    ['--count', '1.0'],
  ])('%s %s is refused: exit status 2', (option, value) => {
    const { status } = spawnSync('python3', [verifier, `${option}=${value}`, '/dev/null']);
    expect(status).toBe(2);
  });

  test.skipIf(!existsSync('/proc/self/status'))(
    'on a long line of many members, in bounded memory (needs /proc)',
    () => {
      writeFileSync(join(folder, 'wide'), `[${'{"":[[],0]},'.repeat(200_000)}0]\n`);
      // The peak of the memory, in kB; the line has 2.4 MB, and its values would take 100 MB.
      const measure = `import re, runpy, sys
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit:
    print(re.search("VmHWM:\\\\s*(\\\\d+)", open("/proc/self/status").read())[1])`;
      const { stdout } = python(['-c', measure, verifier, join(folder, 'wide')]);
      expect(stdout).toContain('not_an_object');
      expect(Number(stdout.trimEnd().split('\n').at(-1))).toBeLessThan(50_000);
    },
  );

  test('on what it can’t read: exit status 2, and the other files are judged', () => {
    writeFileSync(join(folder, 'good'), chain(SAMPLE).join(''));
    const { status, verdicts } = askFiles([], [join(folder, 'none'), folder, join(folder, 'good')]);
    expect(status).toBe(2);
    expect(verdicts.map(({ ok }) => ok)).toEqual([false, false, true]);
    for (const { fault } of verdicts.slice(0, 2)) {
      expect(fault).toMatchObject({ seq: 0, line: 1, reason: 'unreadable' });
    }
  });
});
