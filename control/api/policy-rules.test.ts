/**
 * Runs the table of rules on policies, overrides, custom rules and rulesets, one line of
 * policy-rules.jsonl a rule, in order, and counts what ran. `$name` in a line stands for what an
 * earlier line kept.
 */

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';

/** One rule and the call that shows it. */
interface RuleRow {
  /** The rule, in words. */
  readonly rule: string;
  readonly rpc: string;
  readonly body: object;
  /** Code of the refusal; absent for success. */
  readonly code?: string;
  /** What the message begins with, and what it must hold. */
  readonly at?: string;
  readonly says?: string;
  /** What the answer must hold, and a path that it must not have. */
  readonly has?: object;
  readonly lacks?: string;
  /** Keeps `[name, path]` of the answer for later rows. */
  readonly keep?: readonly (readonly [string, string])[];
}

const rows = readFileSync(new URL('policy-rules.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as RuleRow);
const known = new Map<string, string>();
let waf: TestControl;
let ran = 0;

beforeAll(async () => {
  waf = await startTestControl();
});
afterAll(() => waf.control.close());

describe('rules on policies', () => {
  test.each(rows.map((row) => [`${row.rpc}: ${row.rule}`, row] as const))('%s', async (_, row) => {
    const { body, text } = await waf.call(row.rpc, filled(row.body));
    expect({ code: body['code'], text }).toMatchObject({ code: row.code, text });
    const message = (body['message'] ?? '') as string;
    expect(message.slice(0, row.at?.length ?? 0)).toBe(row.at ?? '');
    expect(message).toContain(filled(row.says ?? ''));
    expect(body).toMatchObject(filled(row.has ?? {}) as object);
    if (row.lacks !== undefined) expect(body).not.toHaveProperty(row.lacks);
    for (const [name, path] of row.keep ?? []) known.set(name, String(valueAt(body, path)));
    ran++;
  });

  test('every row of the table ran', () => {
    expect(rows.length).toBeGreaterThan(150);
    expect(ran).toBe(rows.length);
    console.log(`rules on policies: ${ran} of ${rows.length} rows ran`);
  });
});

/** The value with every `$name` replaced by what is known under it. */
function filled<T>(value: T): T {
  const text = JSON.stringify(value).replace(/\$(\w+)/g, (_, name: string) => {
    const found = known.get(name);
    if (found === undefined) throw new Error(`no row kept ${name}`);
    return found;
  });
  return JSON.parse(text) as T;
}

function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.split('.')) found = (found as Record<string, unknown>)[key];
  return found;
}
