/**
 * The Python seed and hashtape read each other's audit logs, and where the seed is wrong hashtape is right.
 *
 * The seed's program is not part of this repository. Where it lies beside a checkout, it is run; elsewhere
 * those tests are skipped, and the files that it wrote stand in for it.
 *
 * @module
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuditReason } from '../../src/computer/audit-judge.ts';
import { openAudit } from '../../src/computer/audit-log.ts';
import { renderAudit } from '../../src/computer/audit-verdict.ts';
import { verifyAudit } from '../../src/computer/audit-verify.ts';
import { observationDigest, screenDigest } from '../../src/computer/observation.ts';
import { scratch, storeError } from '../store/helpers.ts';
import { hasPython, python } from '../transcript/python.ts';
import { digested, ended, log, logLines, membersOf, SAMPLE, SCREEN, step } from './audit-sample.ts';

const testdata = new URL('../testdata/seeds/', import.meta.url);
const at = scratch();

/** The seed's program, cut out of the document that holds it twice; undefined where there is none. */
function seedProgram(): string | undefined {
  const folder = fileURLToPath(new URL('../../../shared/seeds/', import.meta.url));
  if (!existsSync(folder)) return undefined;
  const name = readdirSync(folder).find((file) => file.startsWith('001'));
  if (name === undefined) return undefined;
  const document = readFileSync(join(folder, name), 'utf8');
  const start = document.indexOf('"""A run\'s record');
  const copy = document.indexOf('\t"""A run\'s record');
  return start < 0 || copy < 0 ? undefined : document.slice(start, copy);
}

const program = seedProgram();
const NEEDS_SEED =
  program === undefined
    ? ' (skipped: the seed’s program is not beside this checkout)'
    : hasPython
      ? ''
      : ' (skipped: no python3 of 3.8 or later here)';
const hasSeed = hasPython && program !== undefined;

interface Manifest {
  readonly audit: readonly {
    readonly file: string;
    readonly note: string;
    /** Whether it holds and the seed's sentence, or the exception that escaped it. */
    readonly seed_verify_audit: readonly [boolean, string] | string;
  }[];
}
const manifest: Manifest = JSON.parse(readFileSync(new URL('manifest.json', testdata), 'utf8'));

/** Where we say something else than the seed: the entry, the reason, and why. */
const STRICTER: Readonly<Record<string, readonly [number, AuditReason, string]>> = {
  'audit_torn.jsonl': [
    4,
    'torn_tail',
    'the seed raises: what a crash leaves has a name of its own',
  ],
  'audit_array.jsonl': [2, 'not_an_object', 'the seed raises'],
  'audit_extra_field.jsonl': [
    1,
    'extra_fields',
    'no digest covers it, and the seed passes over it',
  ],
};

describe('the files of the seed', () => {
  test.each(manifest.audit)('$file: $note', ({ file, seed_verify_audit: seed }) => {
    const verdict = verifyAudit(readFileSync(new URL(file, testdata)));
    const stricter = STRICTER[file];
    if (stricter !== undefined) {
      expect(verdict.fault).toMatchObject({ entry: stricter[0], reason: stricter[1] });
      expect(typeof seed === 'string' || seed[0]).toBeTruthy();
    } else {
      const [ok, sentence] = seed;
      expect(verdict.ok).toBe(ok);
      // The seed has the path, we have the log.
      expect(verdict.detail).toBe(String(sentence).replace(`<dir>/${file}`, 'the log'));
    }
  });

  test('there are ten, and the table names only some of them', () => {
    const files = manifest.audit.map(({ file }) => file);
    expect(files.length).toBe(10);
    for (const file of Object.keys(STRICTER)) expect(files).toContain(file);
  });
});

describe.skipIf(!hasSeed)(`the seed’s program${NEEDS_SEED}`, () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'hashtape-seed-'));
    const library = join(folder, 'tiny_computer_agent');
    mkdirSync(library);
    writeFileSync(join(library, '__init__.py'), '');
    // All that the audit module needs of the module that isn't there.
    writeFileSync(join(library, 'observe.py'), 'class Observation:\n    pass\n');
    writeFileSync(join(library, 'audit.py'), program ?? '');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function run(source: string): unknown {
    const script = join(folder, 'main.py');
    const opening = `
import sys, json, random
from types import SimpleNamespace as N
sys.path.insert(0, sys.argv[1])
from tiny_computer_agent.audit import AuditLog, observation_digest, read_audit, verify_audit
folder = sys.argv[1]
`;
    writeFileSync(script, opening + source);
    return JSON.parse(python(['-B', script, folder]).stdout);
  }

  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc
      .array(
        fc.constantFrom(
          '\u0085',
          '\u2028',
          '\u2029',
          '\ud800',
          '\udfff',
          '\0',
          '\u001f',
          '\u007f',
          '\u000b',
          '\r',
          '\n',
          '"',
          '\\',
          '😀',
        ),
      )
      .map((parts) => parts.join('')),
  );

  test('accepts what we write, counts it as we do, and says the same in one line', async () => {
    const texts = fc.sample(fc.tuple(text, text, text, fc.boolean()), { numRuns: 400, seed: 5 });
    for (let i = 0; i < 20; i += 1) {
      const audit = await openAudit(join(folder, `ours-${i}.jsonl`), { durability: 'never' });
      for (const [goal, action, outcome, ok] of texts.slice(i * 20, i * 20 + 20)) {
        await audit.append({ goal, screen: SCREEN, action, outcome, ok });
      }
      if (i % 2 === 0) await audit.close({ goal: 'end', success: i % 4 === 0, reason: '\u2028' });
      await audit.release();
    }
    const answers = run(`
print(json.dumps([[*verify_audit(p), len(read_audit(p)), AuditLog(p).render()]
  for p in ("%s/ours-%d.jsonl" % (folder, i) for i in range(20))]))
`);
    const expected = Array.from({ length: 20 }, (_, i) => {
      const verdict = verifyAudit(readFileSync(join(folder, `ours-${i}.jsonl`)));
      expect(verdict.count).toBe(i % 2 === 0 ? 21 : 20);
      return [verdict.ok, verdict.detail, verdict.count, renderAudit(verdict)];
    });
    expect(answers).toEqual(expected);
  });

  test('writes what we accept, and we go on with it', async () => {
    const count = 60;
    run(`
r = random.Random(42)
CHARACTERS = ["a", "Z", '"', "\\\\", "/", "\\n", "\\t", "\\r", "\\0", "\\x0b", "\\x1f", "\\x7f", "\\x85",
  "\\xe9", "\\u2028", "\\ue000", "\\ufeff", "\\uffff", "\\U0001f600", "\\U0010ffff"]
def text():
    return "".join(r.choice(CHARACTERS) for _ in range(r.randrange(9)))
for i in range(${count}):
    log = AuditLog("%s/theirs-%d.jsonl" % (folder, i))
    for _ in range(r.randrange(1, 6)):
        screen = N(elements=[N(label=text(), kind="button", x=1, y=-2, width=3, height=4)], text=text())
        log.append(N(observation=screen, action=N(describe=text), result=N(summary=text), error=r.choice([None, text()]), ok=r.random() < .5), goal=text())
        if r.random() < .3: log.close(N(goal=text(), success=r.random() < .5, stop_reason=text()))
print(1)
`);
    for (let i = 0; i < count; i += 1) {
      const path = join(folder, `theirs-${i}.jsonl`);
      const verdict = verifyAudit(readFileSync(path));
      expect(verdict.fault).toBe(undefined);
      const audit = await openAudit(path, { durability: 'never' });
      await audit.close({ goal: 'g', success: true, reason: 'verified' });
      await audit.release();
      expect(verifyAudit(readFileSync(path))).toMatchObject({ ok: true, count: verdict.count + 1 });
    }
  });

  test('names the faults that it sees as we do', () => {
    const lines = logLines();
    const cases = lines.flatMap((line, i) => [
      lines.toSpliced(i, 1),
      lines.toSpliced(i, 0, line),
      lines.toReversed(),
      lines.with(i, line.replace('"goal":"', '"goal":"x')),
      lines.with(i, digested({ ...membersOf(line), goal: 'x' })),
      lines.with(i, digested({ ...membersOf(line), prev: 'x' })),
    ]);
    cases.forEach((all, i) => writeFileSync(join(folder, `case-${i}.jsonl`), all.join('')));
    const answers = run(`
print(json.dumps([verify_audit("%s/case-%d.jsonl" % (folder, i)) for i in range(${cases.length})]))
`);
    expect(answers).toEqual(
      cases.map((all) => {
        const { ok, detail } = verifyAudit(all.join(''));
        return [ok, detail];
      }),
    );
  });

  test('digests what is on a screen as we do', () => {
    const screens = fc
      .sample(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 3 }), 50)
      .map((labels) => ({
        elements: labels.map((label, x) => ({
          label,
          kind: 'link',
          x,
          y: -1,
          width: 10,
          height: 5,
        })),
        text: labels.join('😀').repeat(60),
      }));
    writeFileSync(join(folder, 'screens.json'), JSON.stringify(screens));
    const answers = run(`
print(json.dumps([observation_digest(N(elements=[N(**e) for e in s["elements"]], text=s["text"]))
  for s in json.load(open(folder + "/screens.json", encoding="utf-8"))]))
`);
    expect(answers).toEqual(screens.map((screen) => observationDigest(screen)));
  });
});

const lines = logLines();
const good = log();
const members = membersOf(lines[1] ?? '');

/** A fault's entry and reason; undefined for an intact log. */
function named(content: string | Uint8Array): unknown {
  const { fault } = verifyAudit(content);
  return fault && [fault.entry, fault.reason];
}

/** The log with another second line. */
function second(line: string): string {
  return lines.with(1, line).join('');
}

async function reopened(content: string | Uint8Array, recover = false): Promise<string> {
  const path = at();
  writeFileSync(path, content);
  const audit = await openAudit(path, { recover });
  await audit.append(STEP);
  await audit.release();
  return readFileSync(path, 'utf8');
}

async function refused(content: string | Uint8Array): Promise<void> {
  const path = at();
  writeFileSync(path, content);
  await storeError(openAudit(path), 'broken');
  expect(readFileSync(path)).toEqual(Buffer.from(content));
}

const STEP = { goal: 'save', screen: SCREEN, action: 'a', outcome: 'o', ok: true };
const END = { goal: 'save', success: true, reason: 'verified' };

/** The faults that were confirmed in the seed, by the numbers of their list. */
describe('the seed’s faults', () => {
  test('D1: a malformed line and a torn tail have verdicts, and a crash does not end a log’s life', async () => {
    expect(named(second('{"action":\n'))).toEqual([2, 'bad_json']);
    const torn = good.slice(0, -9);
    expect(named(torn)).toEqual([5, 'torn_tail']);
    expect(renderAudit(verifyAudit(torn))).toContain('chain BROKEN: entry 5: torn_tail');
    await refused(torn);
    expect(verifyAudit(await reopened(torn, true))).toMatchObject({ ok: true, count: 5 });
  });

  test.each(['[]', '3', 'null', '"x"'])('D2: the line %s has a verdict', async (line) => {
    expect(named(second(`${line}\n`))).toEqual([2, 'not_an_object']);
    await refused(second(`${line}\n`));
  });

  test('D3: a byte that is no UTF-8, and a byte order mark', async () => {
    const bytes = Buffer.from(good);
    bytes[20] = 0xff;
    expect(named(bytes)).toEqual([1, 'bad_utf8']);
    expect(named(`\uFEFF${good}`)).toEqual([1, 'not_canonical']);
    await refused(bytes);
  });

  test('D4: U+0085, U+2028 and U+2029 end no line, and are not written', async () => {
    // Looser than the seed's verifier, which cuts what the seed's writer wrote.
    expect(named(log([step({ action: '\u0085\u2028\u2029' })]))).toBe(undefined);
    const audit = await openAudit(at());
    const entry = await audit.append({ ...STEP, action: 'a\u0085b\u2028c\u2029d' });
    expect(entry.action).toBe('a b c d');
    await audit.release();
  });

  test('D5: a lone surrogate does not end a step', async () => {
    const audit = await openAudit(at());
    const entry = await audit.append({ ...STEP, action: 'type "\ud800"' });
    expect(entry.action).toBe('type "\ufffd"');
    await audit.release();
  });

  test('D6: every one of the ten fields must be there', () => {
    for (const field of Object.keys(members)) {
      const rest = Object.fromEntries(Object.entries(members).filter(([name]) => name !== field));
      const line = field === 'digest' ? `${JSON.stringify(rest)}\n` : digested(rest);
      expect(named(second(line)), field).toEqual([2, 'missing_fields']);
    }
  });

  test.each(['"false"', '[]', '0', 'null', '""'])('D7: ok may not be %s', (ok) => {
    expect(named(good.replace('"ok":true', `"ok":${ok}`))).toEqual([1, 'malformed_entry']);
    expect(named(second(digested({ ...members, ok: JSON.parse(ok) })))).toEqual([
      2,
      'malformed_entry',
    ]);
  });

  test.each<[string, string, unknown]>([
    ['a field more', digested({ ...members, note: 'x' }), [2, 'extra_fields']],
    ['a key twice', (lines[1] ?? '').replace('"ok"', '"ok":true,"ok"'), [2, 'not_canonical']],
    ['another spelling', (lines[1] ?? '').replace(':', ' :'), [2, 'not_canonical']],
    ['CRLF', (lines[1] ?? '').replace('\n', '\r\n'), [2, 'not_canonical']],
    ['a blank line', `\n${lines[1]}`, [2, 'not_canonical']],
    ['goal null', digested({ ...members, goal: null }), [2, 'malformed_entry']],
    ['another kind', digested({ ...members, kind: 'note' }), [2, 'malformed_entry']],
    ['any date', digested({ ...members, at: 'today' }), [2, 'malformed_entry']],
  ])('D8: %s is not what was written', (_, line, fault) => {
    expect(named(second(line))).toEqual(fault);
  });

  test('D9: a log that was tampered with is not gone on with', async () => {
    await refused(good.replace('clicked', 'missed'));
  });

  test('D10: a removed tail looks intact, which is said, and a known count or head shows it', () => {
    const rewritten = log([...SAMPLE.slice(0, 2), ended()]);
    expect(verifyAudit(rewritten)).toMatchObject({ ok: true });
    expect(verifyAudit(rewritten).unseen).toContain('entries removed from the end');
    const cut = verifyAudit(lines.slice(0, 2).join(''));
    expect(cut).toMatchObject({ ok: true, closed: false });
    expect(cut.unseen).toContain('its end was removed');
    const { count, head } = verifyAudit(lines.slice(0, 3).join(''));
    expect(verifyAudit(rewritten, { head }).fault?.reason).toBe('head_mismatch');
    expect(verifyAudit(lines.slice(0, 2).join(''), { count }).fault?.reason).toBe('count_mismatch');
  });

  test('D11: nothing is glued to a last line without its newline', async () => {
    await refused(good.slice(0, -1));
    expect(verifyAudit(await reopened(good.slice(0, -1), true)).ok).toBe(true);
  });

  test('D12: there is one writer', async () => {
    const path = at();
    const audit = await openAudit(path);
    await storeError(openAudit(path), 'locked');
    await audit.release();
  });

  test('D13: screens that differ late have one digest in a log, and two in full', () => {
    const screens = ['a', 'b'].map((end) => ({ elements: [], text: `${'x'.repeat(200)}${end}` }));
    expect(new Set(screens.map((screen) => observationDigest(screen))).size).toBe(1);
    expect(new Set(screens.map((screen) => screenDigest(screen))).size).toBe(2);
  });

  test('D14: a file that is deleted while the log is open is noticed', async () => {
    const path = at();
    const audit = await openAudit(path);
    await audit.append(STEP);
    rmSync(path);
    await storeError(audit.close(END), 'changed');
    expect(existsSync(path)).toBe(false);
    await audit.release();
  });

  test('D15: a log that was written anew as a whole holds, which is said', () => {
    const forged = log(
      SAMPLE.map((draft) => (draft.kind === 'step' ? { ...draft, ok: true } : draft)),
    );
    expect(verifyAudit(forged).ok).toBe(true);
    expect(verifyAudit(forged).unseen).toContain('a log that was written anew as a whole');
    expect(verifyAudit(forged, { head: verifyAudit(good).head }).fault?.reason).toBe(
      'head_mismatch',
    );
  });
});
