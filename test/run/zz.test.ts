import { test } from 'vitest';
import { compileInput } from '../../src/run/schema.ts';
import { readArguments } from '../../src/run/arguments.ts';
import { describeError, publicText } from '../../src/run/result.ts';
import { z } from 'zod';
import { type } from 'arktype';
test('x', async () => {
  const mk = (input: any) => ({ name: 't', description: '', input, execute: () => 1 });
  for (const s of [
    { type: 'object', properties: { a: { $ref: '#/properties/a' } } },
    { type: 'object', $ref: '#' },
    { type: 'object', properties: { x: { $ref: '#/$defs/a' } }, $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    { type: 'object', properties: { x: { $ref: '#/$defs/zz' } } },
    { type: 'object', properties: { x: 'number' } },
    { type: 'object', properties: { x: { type: 'any' } } },
    { type: 'object', properties: { x: { type: 'number', minimum: 1, exclusiveMinimum: true } } },
    { type: 'object', properties: { c: { $ref: '#' } } },
    { type: 'object', required: undefined },
    { type: 'array' }, null, 5, [],
    { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' },
    { type: 'object', properties: { x: { pattern: '(' } } },
    { type: 'object', $id: 'me', properties: { x: { pattern: '(' } } },
    { type: 'object', $id: 'me', properties: { x: { pattern: 'a' } } },
    { type: 'object', $id: 'me', properties: { x: { pattern: 'b' } } },
    { type: 'object', $async: true },
    { type: 'object', properties: { x: { enum: [] } } },
    z.object({ d: z.date() }), z.object({ a: z.number() }).transform((v) => v), z.string(),
  ]) {
    try { const c = compileInput(mk(s)); console.log('ok', JSON.stringify(s)?.slice(0, 60), await c.check({ x: 1, a: 1 }), JSON.stringify(c.schema)); } catch (e) { console.log('ERR', JSON.stringify(s)?.slice(0, 80), String(e)); }
  }
  for (const a of ['{"a":', '{"a":1}{"a":2}', '{"a":1,}', '```json\n{"a":1}\n```', '{"a":NaN}', '', 'null', '[1]', '"{\\"a\\":1}"', '{"a":12345678901234567890}', '{"a":1,"a":2}', '{"__proto__":{"x":1}}', '{"a":1.0}', '{"a":"\\ud800"}', '{"a":1e999}', '{ "a" : 1 }', ' {} ', '['.repeat(5000), '{"a":'.repeat(5000) + '1' + '}'.repeat(5000)]) {
    const r = readArguments(a); console.log(JSON.stringify(a.slice(0, 40)), JSON.stringify(r).slice(0, 300));
  }
  for (const a of [{ a: NaN }, { a: '\ud800' }, [1], JSON.parse('{"__proto__":1}'), { a: 10n }, { a: new Date() }]) console.log(readArguments(a as any));
  for (const e of [undefined, null, 's', { code: 7 }, Object.create(null), new Map(), new Error("ENOENT: no such file, open '/home/bob/x.ts'"), new Error('ENOENT:/home/bob/x.ts:3:4'), new Error('/home/jürgen/my dir/s.txt'), new Error('see https://host/a/b/c ok'), new Error('C:\\Users\\bob\\x.ts'), Symbol('q'), () => 1]) console.log(describeError(e));
  console.log(publicText('<a href=/home/x/y>, /home/x/y, (/a/b/c) 1/2/2024 and/or ../a/b ./a/b'), publicText('\\\\server\\share\\f.txt'));
});
