/**
 * Runs the table of rules on IP lists, country rules, rate limits and trust, one line of
 * access-rules.jsonl a rule, in order, and counts what ran. `$name` in a line stands for what an
 * earlier line kept.
 */

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';

/** One rule and the call that shows it. */
interface RuleRow {
  readonly rule: string;
  readonly rpc: string;
  readonly body: object;
  /** Code of the refusal; absent for success. */
  readonly code?: string;
  /** What the message begins with: the field. */
  readonly at?: string;
  /** Further text of the message. */
  readonly says?: string;
  /** What the answer must hold, and must not hold. */
  readonly has?: object;
  readonly lacks?: string;
  /** Keeps `[name, path]` of the answer for later rows. */
  readonly keep?: readonly (readonly [string, string])[];
}

const ruleRows = readFileSync(new URL('access-rules.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as RuleRow);
const known = new Map<string, unknown>();
let waf: TestControl;
let ran = 0;

beforeAll(async () => {
  waf = await startTestControl();
});
afterAll(() => waf.control.close());

describe('rules on access', () => {
  test.each(ruleRows.map((row) => [`${row.rpc}: ${row.rule}`, row] as const))(
    '%s',
    async (_, row) => {
      const { body, text } = await waf.call(row.rpc, resolved(row.body));
      const message = (body['message'] ?? '') as string;
      expect([body['code'], message.slice(0, row.at?.length ?? 0)]).toEqual([
        row.code,
        row.at ?? '',
      ]);
      expect(message).toContain(String(resolved(row.says ?? '')));
      expect(body).toMatchObject(resolved(row.has ?? {}) as object);
      if (row.lacks !== undefined) expect(body).not.toHaveProperty(row.lacks);
      expect(text).not.toContain('s3cret-token');
      for (const [name, path] of row.keep ?? []) known.set(name, at(body, path));
      ran++;
    },
  );

  test('every row of the table ran', () => {
    expect(ruleRows.length).toBeGreaterThan(200);
    expect(ran).toBe(ruleRows.length);
    console.log(`rules on access: ${ran} of ${ruleRows.length} rows ran`);
  });
});

/** The value with every `$name` that was kept replaced. */
function resolved(value: unknown): unknown {
  if (typeof value === 'string')
    return (value.startsWith('$') && known.get(value.slice(1))) || value;
  if (Array.isArray(value)) return value.map(resolved);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolved(one)]));
}

function at(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.split('.')) found = (found as Record<string, unknown>)[key];
  return found;
}
