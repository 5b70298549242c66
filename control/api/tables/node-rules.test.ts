/**
 * Runs the table of rules on enrollment, nodes and installations, one line of node-rules.jsonl a
 * rule, in order, and counts what ran.
 */

import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { expectRow, readRuleRows, RuleTable } from '../../../test/support/rule-table.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

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
    expect(rows.length).toBeGreaterThan(150);
    expect(table.ran).toBe(rows.length);
    console.log(`rules on nodes: ${table.ran} of ${rows.length} rows ran`);
  });

  test('without a word a token and an installation live for a day', async () => {
    const { body } = await waf.call('AgentService/IssueEnrollmentToken', {});
    for (const ends of [body['expiresAt'], table.known.get('day')]) {
      const lifeMs = Date.parse(String(ends)) - Date.now();
      expect(lifeMs).toBeLessThanOrEqual(86_400_000);
      expect(lifeMs).toBeGreaterThan(86_400_000 - 600_000);
    }
  });

  test('a token that has ended enrolls nobody, nor one that it enrolled before', async () => {
    const { body } = await waf.call('AgentService/IssueEnrollmentToken', {
      ttlSeconds: 60,
      maxNodes: 2,
    });
    const enroll = (fingerprint: string) =>
      waf.call('AgentService/Enroll', {
        ...{ enrollmentToken: body['token'], fingerprint, hostname: 'late' },
        ...{ os: 'linux', arch: 'x64', version: '3.8.0' },
      });
    expect((await enroll('early')).status).toBe(200);
    const laterMs = Date.now() + 61_000;
    const clock = vi.spyOn(Date, 'now').mockReturnValue(laterMs);
    try {
      for (const fingerprint of ['late', 'early']) {
        const { body: refused } = await enroll(fingerprint);
        expect(refused['code']).toBe('failed_precondition');
        expect(refused['message']).toContain('enrollmentToken:');
      }
    } finally {
      clock.mockRestore();
    }
  });

  test('secrets are kept as hashes only', () => {
    const kept = readFileSync(join(waf.folder, 'control', 'data.mdb'), 'latin1');
    expect(kept).toContain('enrollment-tokens');
    for (const name of ['one', 'three', 'fresh', 'stream1']) {
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
