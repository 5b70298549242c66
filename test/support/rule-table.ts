/**
 * Tables of rules on the API, one JSON line a rule: reads them and runs their rows, in order,
 * against a control. `$name` in a row stands for what an earlier row kept. Holds no rule.
 */

import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { TestControl } from './test-control.ts';

/** One rule and the call that shows it. */
export interface RuleRow {
  /** The rule, in words. */
  readonly rule: string;
  /** Service and method. */
  readonly rpc: string;
  readonly body: object;
  /** Code of the refusal; absent for success. */
  readonly code?: string;
  /** What the message begins with: the field, for refusals. */
  readonly at?: string;
  /** Further text that the message must hold. */
  readonly says?: string;
  /** What the answer must hold, and a property that it must not have. */
  readonly has?: object;
  readonly lacks?: string;
  /** Keeps `[name, path]` of the answer for later rows. */
  readonly keep?: readonly (readonly [string, string])[];
}

/** The rows of a file of JSON lines. */
export function readRuleRows(file: URL): RuleRow[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as RuleRow);
}

/** What rows keep for later ones, and how many ran. */
export class RuleTable {
  /** By name without the dollar sign. */
  readonly known = new Map<string, unknown>();
  /** No answer may hold one of these. */
  readonly secrets: readonly string[];
  ran = 0;

  constructor(secrets: readonly string[] = []) {
    this.secrets = secrets;
  }

  /** The value with every `$name` replaced; a text that is nothing else keeps the value's type. */
  resolve(value: unknown): unknown {
    if (typeof value === 'string') return this.fill(value);
    if (Array.isArray(value)) return value.map((one) => this.resolve(one));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([key, one]) => [key, this.resolve(one)]);
    return Object.fromEntries(entries);
  }

  private fill(text: string): unknown {
    const whole = /^\$(\w[\w.]*)$/.exec(text);
    if (whole) return this.lookUp(whole[1]!);
    return text.replace(/\$(\w+)/g, (_, name: string) => String(this.lookUp(name)));
  }

  private lookUp(name: string): unknown {
    if (!this.known.has(name)) throw new Error(`no row kept ${name}`);
    return this.known.get(name);
  }
}

/** Holds a value against a row, and keeps what the row names. */
export function expectValue(table: RuleTable, value: unknown, row: RuleRow): void {
  expect(value).toMatchObject(table.resolve(row.has ?? {}) as object);
  if (row.lacks !== undefined) expect(value).not.toHaveProperty(row.lacks);
  for (const [name, path] of row.keep ?? []) table.known.set(name, valueAt(value, path));
  table.ran++;
}

/** Makes the row's call and holds the answer against it. */
export async function expectRow(table: RuleTable, waf: TestControl, row: RuleRow): Promise<void> {
  const { body, text } = await waf.call(row.rpc, table.resolve(row.body));
  const message = (body['message'] ?? '') as string;
  expect({ code: body['code'], text }).toEqual({ code: row.code, text });
  expect(message.slice(0, row.at?.length ?? 0)).toBe(row.at ?? '');
  expect(message).toContain(String(table.resolve(row.says ?? '')));
  for (const secret of table.secrets) expect(text).not.toContain(secret);
  expectValue(table, body, row);
}

function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.split('.')) found = (found as Record<string, unknown>)[key];
  return found;
}
