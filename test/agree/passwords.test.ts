/**
 * Light lets random passwords through that libinjection takes for SQL, and still stops SQL in
 * arguments that are named like passwords, with every ruleset.
 */

import { describe, expect, test } from 'vitest';
import { detectSqli } from '../../native-bindings/injection.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import {
  rulesetFolders,
  sendInProcess,
  templateEngine,
  type TableRequest,
} from './policy-in-process.ts';

const timeoutMs = 10 * 60_000;
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const json = { 'Content-Type': 'application/json' };

/** Random passwords that libinjection takes for SQL, of `count` drawn; always the same ones. */
function mistaken(count: number): string[] {
  let seed = 12_345;
  const below = (limit: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor(((seed >>> 8) / 2 ** 24) * limit);
  };
  const drawn = Array.from({ length: count }, () => {
    const length = 12 + below(9);
    return Array.from({ length }, () => String.fromCharCode(33 + below(94))).join('');
  });
  return drawn.filter((one) => detectSqli(one) !== null);
}

const post = (name: string, value: string): TableRequest => ({
  ...{ url: '/login', method: 'POST', headers: form },
  body: `user=me&${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
});

const bySql = (engine: PolicyEngine, request: TableRequest): boolean =>
  sendInProcess(engine, request).rules.some((rule) => rule === 942_100 || rule === 199_214);

const attacks = [
  ...["'or'1'='1", "admin'--", "'||'a'='a", "'='", "'-'", "'=0#aaaaaaaa", "1'or(1)=(1)#"],
  ...["'or(1)or'", '"or""="', "'/**/or/**/1=1", "'union(select(1))", "';shutdown--", "'||1#aaaaa"],
  ...["')or('a'='a", "'or`id`is`id`", "'<'Z12345678", "'||pg_sleep(5)||'", "'^(sleep(5))^'"],
  ...["'=@a:=1#abcdefg", "1'=1.1e0#aaaaaa", "'*1*'Aa1{}[]?", "1' or '1'='1", "x' and 1=1 -- "],
  ...['RANDOMBLOB(1000000000/2)', 'elt(2567=9921,9921)', 'updatexml(0x23,concat(1,md5(9)),1)'],
].filter((text) => detectSqli(text) !== null);

describe.each(rulesetFolders)('$name', ({ folder }) => {
  test('random passwords pass where they cannot be SQL', { timeout: timeoutMs }, async () => {
    const engine = await templateEngine('Light', folder);
    const found = mistaken(100_000);
    const refused = found.filter((one) => bySql(engine, post('password', one)));
    const elsewhere = found.filter((one) => bySql(engine, post('comment', one)));
    console.log(`of 100,000: ${elsewhere.length} elsewhere, ${refused.length} as a password`);
    expect(elsewhere.length).toBeGreaterThan(600);
    expect(refused.length).toBeLessThan(elsewhere.length * 0.55);
    engine.retire();
  });

  test('SQL in a password stays refused', { timeout: timeoutMs }, async () => {
    const engine = await templateEngine('Light', folder);
    const names = ['password', 'new_password', 'user[passwd]', 'pwd', 'password_confirmation'];
    const passed = names.flatMap((name) =>
      attacks.filter((text) => !bySql(engine, post(name, text))).map((text) => `${name} ${text}`),
    );
    expect(attacks.length).toBeGreaterThan(20);
    expect(passed).toEqual([]);
    // A second value, and a value that is decoded once more, are read as well.
    const good = mistaken(2000)[0]!;
    const two = post('password', good);
    const body = `${String(two.body)}&password=${encodeURIComponent("'='Aa1bcdefg")}`;
    expect(bySql(engine, { ...two, body })).toBe(true);
    const encoded = JSON.stringify({ password: '%27=%27Aa1bcdefg' });
    const asJson = { url: '/login', method: 'POST', headers: json, body: encoded };
    expect(bySql(engine, asJson)).toBe(true);
    engine.retire();
  });
});
