/**
 * A day of a site on a fake clock: 200 clients that write HTML, and an attacker with 100 networks;
 * counted as front threads count, kept and decided as control does.
 */

import { expect, test } from 'vitest';
import { openLearningSite } from '../bench/detect/day/learning-site.ts';
import { learningSketchLimits } from '../engine/base/learning-limits.ts';
import type { SignFamily, ValueSigns } from '../engine/contract/detection-content.ts';
import type { RequestOutcome } from '../engine/contract/events.ts';
import type { TransactionRecord } from '../engine/contract/verdict.ts';
import { inForce } from './domain/policy/detection-learning.ts';
import { detectionLearningLimits as limits } from './limits/detection-learning-limits.ts';
import { detectionLearning } from './store/collections.ts';

const hourMs = 3_600_000;

/** A request and what its inspection left. */
interface Sent {
  readonly clientIp: string;
  readonly target: string;
  readonly signs: readonly ValueSigns[];
  readonly outcome?: RequestOutcome;
  readonly status?: number;
  /** Rule that refused; 0 for none. */
  readonly ruleId?: number;
}

/** A site with `auto`, and requests to it whose inspection left signs. */
async function openDay() {
  const site = await openLearningSite('auto');
  const send = ({ outcome = 'served', status = 200, ruleId = 0, signs, ...sent }: Sent): void => {
    const verdict = { action: ruleId === 0 ? 'pass' : 'block', status: 0, ruleId, phase: 2 };
    const transaction = { verdict, valueSigns: signs } as unknown as TransactionRecord;
    site.count({ ...sent, method: 'POST', outcome, status, transaction });
  };
  return { ...site, send };
}

const weak = (name: string, family: SignFamily): ValueSigns[] => [{ name, family }];
const client = (at: number): string => `10.1.${at}.7`;
const attacker = (at: number): string => `203.${at}.113.9`;

test('200 clients teach what they write; 100 networks blind one family of a value at most', async () => {
  const day = await openDay();
  const targets = ['/search', '/login', '/orders'] as const;
  for (let hour = 0; hour < 24; hour++) {
    for (let at = 0; at < 200; at++) {
      if ((at + hour) % 4 !== 0) continue;
      day.send({ clientIp: client(at), target: '/posts', signs: weak('ARGS:content', 'html') });
      if (at < 30) {
        day.send({ clientIp: client(at), target: '/posts', signs: weak('ARGS:note', 'path') });
      }
    }
    for (let at = 0; at < 100; at++) {
      for (const target of targets) {
        for (const family of ['sql', 'shell', 'html'] as const) {
          day.send({ clientIp: attacker(at), target, signs: weak('ARGS:q', family) });
        }
      }
      // What proves an attack, and what others refuse, teaches nothing.
      day.send({ clientIp: attacker(at), target: '/proved', signs: [] });
      const refused = { outcome: 'blocked', status: 403, ruleId: 949_110 } as const;
      const signs = weak('ARGS:q', 'sql');
      day.send({ clientIp: attacker(at), target: '/refused', signs, ...refused });
      day.send({ clientIp: attacker(at), target: '/missing', signs, status: 404 });
    }
    day.pass(hourMs);
    await day.report();
  }
  const record = day.record();
  const proposals = day.proposals();
  const shown = proposals.map(({ path, name, family, state }) => [path, name, family, state]);
  const accepted = shown.filter(([, , , state]) => state === 'accepted');
  // Suppressed: what the clients write. Blinded: one family of one value of the attacker.
  expect(accepted.filter(([path]) => path === '/posts')).toEqual([
    ['/posts', 'ARGS:content', 'html', 'accepted'],
  ]);
  expect(accepted.filter(([path]) => path !== '/posts')).toHaveLength(1);
  // Suggested: what too few clients write for a site to act on.
  expect(shown).toContainEqual(['/posts', 'ARGS:note', 'path', 'waiting']);
  expect(shown.some(([path]) => ['/proved', '/refused', '/missing'].includes(path!))).toBe(false);
  const content = proposals.find(({ name }) => name === 'ARGS:content')!;
  expect(content.clients).toBeLessThanOrEqual(200);
  expect(content.clients).toBeGreaterThan(180);
  expect(content.confidence).toBe('high');
  expect(content.summary).toMatch(
    /^Parameter "content" of POST \/posts regularly holds HTML or scripts: at least \d+ clients in/,
  );
  expect(content.samples.length).toBeGreaterThan(0);
  expect(content.endsAtMs - day.nowMs()).toBeLessThanOrEqual(limits.actingDays * 24 * hourMs);
  // Each value has one family at most, and all of it ends.
  const values = record!.decisions.filter((one) => inForce(one, day.nowMs()));
  expect(new Set(values.map(({ path, name }) => `${path} ${name}`)).size).toBe(values.length);
  const later = day.nowMs() + (limits.actingDays + 1) * 24 * hourMs;
  expect(record!.decisions.filter((one) => inForce(one, later))).toEqual([]);
});

test('addresses of one network are one client', async () => {
  const day = await openDay();
  for (let hour = 0; hour < 8; hour++) {
    for (let at = 1; at < 255; at++) {
      const signs = weak('ARGS:q', 'sql');
      day.send({ clientIp: `198.51.100.${at}`, target: '/a', signs });
      day.send({ clientIp: `2001:db8:1:${at}::1`, target: '/a', signs });
    }
    day.pass(hourMs);
    expect(await day.report()).toBe(0);
  }
  expect(day.proposals()).toEqual([]);
  const [row] = day.rows();
  expect(row!.name).toBe('ARGS:q');
});

test('memory is bounded: names that one client makes up drive out no others', async () => {
  const day = await openDay();
  const usual = weak('ARGS:content', 'html');
  for (let at = 0; at < 20; at++)
    day.send({ clientIp: client(at), target: '/posts', signs: usual });
  for (let at = 0; at < 5_000; at++) {
    day.send({ clientIp: attacker(1), target: '/posts', signs: weak(`ARGS:made${at}`, 'sql') });
  }
  expect(day.counts.leftOut).toBeGreaterThanOrEqual(5_000 - learningSketchLimits.valuesPerThread);
  await day.report();
  const rows = day.rows();
  expect(rows.length).toBeLessThanOrEqual(limits.valuesPerSiteMax);
  expect(rows.some(({ name }) => name === 'ARGS:content')).toBe(true);
});

test('what was learned before a reset comes too late', async () => {
  const day = await openDay();
  for (let at = 0; at < 20; at++) {
    day.send({ clientIp: client(at), target: '/posts', signs: weak('ARGS:content', 'html') });
  }
  await day.store.write((tx) => {
    tx.put(detectionLearning, { id: 's', tenantId: 't', generation: 1, decisions: [] });
  });
  await day.report();
  expect(day.rows()).toEqual([]);
});

test('names that 100 networks make up drive out no values that people fill', async () => {
  const day = await openDay();
  const usual = ['title', 'text', 'note'].flatMap((name) => weak(`ARGS:${name}`, 'html'));
  const hours = 6;
  for (let hour = 0; hour < hours; hour++) {
    for (let at = 0; at < 100; at++) {
      const pair = `${hour % 2}-${Math.floor(at / 2)}`;
      const made = Array.from({ length: 12 }, (_, which) => weak(`ARGS:${pair}-${which}`, 'sql'));
      day.send({ clientIp: attacker(at), target: '/posts', signs: made.flat() });
    }
    for (let at = 0; at < 40; at++) {
      day.send({ clientIp: client(at), target: '/posts', signs: usual });
    }
    day.pass(hourMs);
    await day.report();
  }
  const rows = day.rows();
  expect(rows.length).toBe(limits.valuesPerSiteMax);
  const own = rows.filter(({ name }) => usual.some((one) => one.name === name));
  expect(own.map((row) => Object.keys(row.hours).length)).toEqual([hours, hours, hours]);
});
