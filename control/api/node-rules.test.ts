/**
 * Runs the table of rules on enrolment, nodes and installations, one line of node-rules.jsonl a
 * rule, in order, and counts what ran.
 */

import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRow, readRuleRows, RuleTable } from '../../test/support/rule-table.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';

const rows = readRuleRows(new URL('node-rules.jsonl', import.meta.url));
const table = new RuleTable();
let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null, managementTls: 'own' });
});
afterAll(() => waf.control.close());

describe('rules on nodes', () => {
  test.each(rows.map((row) => [`${row.rpc}: ${row.rule}`, row] as const))('%s', (_, row) =>
    expectRow(table, waf, row),
  );

  test('every row of the table ran', () => {
    expect(rows.length).toBeGreaterThan(90);
    expect(table.ran).toBe(rows.length);
    console.log(`rules on nodes: ${table.ran} of ${rows.length} rows ran`);
  });

  test('secrets are kept as hashes only', () => {
    const kept = readFileSync(join(waf.folder, 'control', 'data.mdb'), 'latin1');
    expect(kept).toContain('enrollment-tokens');
    for (const name of ['one', 'three', 'fresh', 'stream1', 'stream1b']) {
      const secret = String(table.known.get(name)).split('.').at(-1)!;
      expect(secret).toHaveLength(43);
      expect(kept).not.toContain(secret);
    }
  });

  test('the secret of an installation stands in its commands and nowhere else', async () => {
    const [script, fg] = [String(table.known.get('script')), String(table.known.get('fg'))];
    const token = /WAF_TOKEN=(\S+)/.exec(script)?.[1] ?? '';
    expect(token.startsWith(`${String(table.known.get('inst'))}.`)).toBe(true);
    expect(fg).toContain(token);
    const audit = await waf.call('AuditService/QueryAudit', {});
    expect(audit.text).toContain('issue_enrollment_token');
    expect(audit.text).not.toContain(token.split('.')[1]!);
  });

  test.each(['script', 'fg', 'command'])('the %s of an installation is a shell script', (name) => {
    const input = String(table.known.get(name));
    expect(spawnSync('sh', ['-n'], { input }).status).toBe(0);
    expect(input).toContain('--ca-sha256');
  });
});
