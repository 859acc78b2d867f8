/**
 * `hashtape verify` on everything that the Python seed wrote or that was damaged from it.
 *
 * @module
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { bareEnv, execute, MAIN, type Executed } from './script.ts';

const folder = fileURLToPath(new URL('../testdata/seeds/', import.meta.url));
const manifest: {
  transcript: { file: string; seed_verify_file: { ok: boolean } }[];
  audit: { file: string; seed_verify_audit: [boolean, string] | string }[];
} = JSON.parse(readFileSync(`${folder}manifest.json`, 'utf8'));

/**
 * Where we say something else than the seed's own verifier: it takes spellings that it never writes, ends
 * lines at U+2028, and knows no seal.
 */
const OTHERWISE: Readonly<Record<string, string>> = {
  'transcript_astral_keys.jsonl': 'not_sealed',
  'transcript_ls_separator.jsonl': 'torn_tail',
  'transcript_nan.jsonl': 'bad_json',
  'transcript_numbers.jsonl': 'not_sealed',
  'transcript_u2028_payload.jsonl': 'ok',
  'transcript_unknown_kind.jsonl': 'malformed_record',
  'transcript_blank_lines.jsonl': 'not_canonical',
  'transcript_blank_only.jsonl': 'not_canonical',
  'transcript_duplicate_key.jsonl': 'not_canonical',
  'transcript_empty.jsonl': 'not_sealed',
  'transcript_extra_field.jsonl': 'extra_fields',
  'transcript_key_order.jsonl': 'not_canonical',
  'transcript_no_final_newline.jsonl': 'torn_tail',
  'transcript_respelled.jsonl': 'not_canonical',
  'transcript_truncated_tail.jsonl': 'not_sealed',
};

describe('verify on what the seeds wrote', () => {
  let result: Executed;
  let verdicts: Map<string, { ok: boolean; fault?: { reason: string } }>;

  beforeAll(async () => {
    const home = mkdtempSync(join(tmpdir(), 'hashtape-seeds-'));
    result = await execute(process.execPath, [MAIN, 'verify', '--json', '.'], {
      cwd: folder,
      // What is remembered of them isn't kept among them.
      env: bareEnv(home),
    });
    rmSync(home, { recursive: true });
    const lines = result.stdout.trimEnd().split('\n');
    verdicts = new Map(
      lines.map((line) => {
        const verdict = JSON.parse(line);
        return [verdict.file, verdict];
      }),
    );
  });

  test('the exit status is that of the worst, and every file has a verdict', () => {
    expect(result.status).toBe(1);
    expect([...verdicts.keys()].toSorted()).toEqual(
      [...manifest.transcript, ...manifest.audit].map(({ file }) => file).toSorted(),
    );
  });

  for (const { file, seed_verify_file: seed } of manifest.transcript) {
    const expected = OTHERWISE[file] ?? (seed.ok ? 'ok' : 'a fault');
    test(`${file}: ${expected}`, () => {
      const verdict = verdicts.get(file);
      expect(verdict?.ok).toBe(expected === 'ok');
      if (expected !== 'ok' && expected !== 'a fault') {
        expect(verdict?.fault?.reason).toBe(expected);
      }
    });
  }

  for (const { file, seed_verify_audit: seed } of manifest.audit) {
    // The seed passes over a field that no digest covers.
    const expected = seed[0] === true && file !== 'audit_extra_field.jsonl';
    test(`${file}: ${expected ? 'ok' : 'a fault'}`, () => {
      // An empty file may be either, and is called an open transcript.
      const log = file === 'audit_empty.jsonl' ? {} : { log: 'audit' };
      expect(verdicts.get(file)).toMatchObject({ ok: expected, ...log });
    });
  }
});
