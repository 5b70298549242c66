/**
 * The specification's sentences on requests, one row each, through the running product over
 * HTTP/1.1 and HTTP/2, with and without TLS: status, reason, guards, rules, origin; in the end the
 * counters say the same. Rows are counted in the output.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { readPageText, solve as solveProof } from '../support/challenge-solver.ts';
import { missingBuild } from '../support/product.ts';
import { isMessage, sendChain, type ChainAnswer } from './chain-client.ts';
import {
  domain,
  ways,
  type ChainExpected,
  type ChainRequest,
  type ChainRow,
  type Way,
} from './chain-row.ts';
import { startChainWaf, type ChainWaf } from './chain-waf.ts';
import { chainGroups } from './chain-groups.ts';

type Json = Readonly<Record<string, unknown>>;

if (missingBuild !== null) console.log(missingBuild);
const timeoutMs = 15 * 60_000;
const rowsMin = 1_280;
/** Rows times the ways that each is sent. */
const runsMin = 4_500;
/** Requests at one time; rows that send several in order are sent one by one. */
const atOnce = 8;

interface RowFaults {
  readonly faults: readonly string[];
  /** Null where the request has no event under its id. */
  readonly logged: Promise<string[]> | null;
}

const groups = Object.entries(chainGroups);
const allRows = groups.flatMap(([, { rows }]) => rows);

test('what differs from a row is found', () => {
  const expected: ChainExpected = {
    ...{ status: 403, guards: ['ip deny'], with: [1], without: [2], origin: 'a', body: 'page' },
    ...{ target: '/x', fields: { 'x-a': null }, uninspected: false },
  };
  const matchedRules = [{ ruleId: 2 }];
  const event = { siteId: 's', outcome: 'served', status: 200, transaction: { matchedRules } };
  expect(eventFaults(event, expected, 't')).toHaveLength(6);
  expect(eventFaults({ ...event, transaction: null }, expected, 's')).toHaveLength(5);
  const refused = { ...event, siteId: '', outcome: 'refused', status: 400, refusal: 'x' };
  expect(eventFaults(refused, { status: 400, outcome: 'refused', refusal: 'y' }, '')).toEqual([
    'refusal x, not y',
  ]);
  const answer = {
    status: 200,
    fields: { 'x-a': '1', 'x-origin': 'b', 'x-target': '/' },
    body: '',
  };
  expect(answerFaults(answer, expected)).toHaveLength(5);
  const fields = { 'x-origin': 'a', 'x-target': '/x' };
  expect(answerFaults({ status: 403, fields, body: 'a page' }, expected)).toEqual([]);
});

describe.skipIf(missingBuild !== null)('the protection chain', () => {
  let waf: ChainWaf;
  let sent = 0;
  let next = 0;
  /** Requests by site and outcome, as the rows expect them. */
  const tally = new Map<string, number>();

  beforeAll(async () => {
    const setup = groups.flatMap(([, group]) => group.setup);
    const keys = setup.flatMap(({ as = '' }) => (as.startsWith('site:') ? [as.slice(5)] : []));
    const names = keys.map((key) => `${key}.${domain}`);
    const wild = [
      `alias.${domain}`,
      `*.wild.${domain}`,
      `*.b.wild.${domain}`,
      `www.edge.${domain}`,
    ];
    waf = await startChainWaf(setup, [...names, ...wild]);
  }, timeoutMs);
  afterAll(async () => {
    await waf?.close();
    console.log(`${allRows.length} rows, ${sent} requests, over ${ways.join(', ')}`);
  }, timeoutMs);

  const send = async (
    row: ChainRow,
    way: Way,
    request: ChainRequest = row.request,
  ): Promise<readonly [string, ChainAnswer]> => {
    const host = request.host ?? `${row.site}.${domain}`;
    const requestId = `chain-row-${next++}`;
    const { securePort, live, certificates } = waf;
    // A name that no site has would end the handshake: its row is about the field Host.
    const served = row.expected.site !== '' && request.raw === undefined;
    const own = `${row.site}.${domain}`;
    const serverName =
      request.serverName ?? (served ? host.toLowerCase().replace(/:\d+$/, '') : own);
    const certificate = certificates.get(request.certificate ?? '');
    const target = { port: live.port, securePort, host, serverName, requestId, certificate };
    sent++;
    return [requestId, await sendChain(way, request, target)];
  };

  /** Solves a challenge as a browser does; the request with the pass that it gave. */
  const solve = async (row: ChainRow, way: Way, path: string): Promise<ChainRequest> => {
    const [, page] = await send(row, way, { path, headers: row.request.headers ?? {} });
    const asked = readPageText(page.body);
    const pass = `/.waf-check/pass?token=${asked.token}&nonce=${solveProof(asked)}`;
    const [, { fields }] = await send(row, way, { path: pass });
    const key = `${row.site} challenged`;
    tally.set(key, (tally.get(key) ?? 0) + 2);
    const cookie = (fields['set-cookie'] ?? '').split(';', 1)[0]!;
    return { ...row.request, headers: { ...row.request.headers, cookie } };
  };

  /** Comes again with the cookie of a first answer; its origin is the one that must answer. */
  const comeAgain = async (row: ChainRow, way: Way): Promise<ChainRow> => {
    const { returns, ...asked } = row.request;
    if (returns === undefined) return row;
    const [, { fields }] = await send(row, way, { path: returns });
    const key = `${row.site} served`;
    tally.set(key, (tally.get(key) ?? 0) + 1);
    const pair = (fields['set-cookie'] ?? '').split(';', 1)[0]!;
    const { cookie = '$cookie' } = asked.headers ?? {};
    const shown = (text: string): string => text.replaceAll('$cookie', pair);
    const headers = { ...asked.headers, cookie: shown(cookie) };
    const request = { ...asked, headers, ...(asked.raw && { raw: shown(asked.raw) }) };
    const { origin = fields['x-origin'] } = row.expected;
    // What opens a WebSocket shows no fields.
    const named = isMessage(asked) || origin === undefined ? {} : { origin };
    return { ...row, request, expected: { ...row.expected, ...named } };
  };

  /** What the answers show other than the row, and what the events will. */
  const run = async (written: ChainRow, way: Way): Promise<RowFaults> => {
    const row = await comeAgain(written, way);
    const faults: string[] = [];
    const count = (status: number): void => {
      const outcome = status === row.expected.status ? outcomeOf(row.expected) : 'served';
      const key = `${row.expected.site ?? row.site} ${outcome}`;
      tally.set(key, (tally.get(key) ?? 0) + 1);
    };
    const { solves, after } = row.request;
    if (after !== undefined) tally.set(`${after} served`, (tally.get(`${after} served`) ?? 0) + 1);
    const request = solves === undefined ? row.request : await solve(row, way, solves);
    for (const status of row.before ?? []) {
      const [, answer] = await send(row, way, request);
      count(status);
      if (answer.status !== status) faults.push(`before: ${answer.status}, not ${status}`);
    }
    const [requestId, answer] = await send(row, way, request);
    if (row.expected.status > 0) count(row.expected.status);
    faults.push(...answerFaults(answer, row.expected));
    const logged = row.expected.unnamed === true ? null : eventFaultsOf(row, requestId);
    return { faults, logged };
  };

  /** What the events of a request show other than its row. */
  const eventFaultsOf = async (row: ChainRow, requestId: string): Promise<string[]> => {
    const event = await waf.eventOf(requestId).catch((error: unknown) => String(error));
    if (typeof event === 'string') return [event];
    const siteId = waf.ids.get(`site:${row.expected.site ?? row.site}`) ?? '';
    const faults = eventFaults(event, row.expected, siteId);
    const { message } = row.expected;
    if (message === undefined) return faults;
    const of = await waf.eventOf(`${requestId}.m1`).catch((error: unknown) => String(error));
    if (typeof of === 'string') return [...faults, of];
    return [...faults, ...eventFaults(of, message, siteId).map((one) => `message: ${one}`)];
  };

  describe.each(groups)('%s', (_, { rows, later = [] }) => {
    beforeAll(() => (later.length > 0 ? waf.change(later) : undefined), timeoutMs);
    test.each(ways)('%s', { timeout: timeoutMs }, async (way) => {
      const fitting = rows.filter((row) => row.ways?.includes(way) ?? true);
      const faults: string[] = [];
      const logged: Promise<void>[] = [];
      const note = async (row: ChainRow): Promise<void> => {
        const found = await run(row, way);
        // Events are written in the background: other rows are sent meanwhile.
        const whole = async (): Promise<void> => {
          const all = [...found.faults, ...((await found.logged) ?? [])];
          if (all.length > 0) faults.push(`${row.says}: ${all.join('; ')}`);
        };
        logged.push(whole());
      };
      const single = fitting.filter(({ before }) => before === undefined);
      for (let at = 0; at < single.length; at += atOnce) {
        await Promise.all(single.slice(at, at + atOnce).map(note));
      }
      for (const row of fitting.filter(({ before }) => before !== undefined)) await note(row);
      await Promise.all(logged);
      expect(faults).toEqual([]);
    });
  });

  test('the counters say what the rows say', { timeout: timeoutMs }, async () => {
    const expected = [...tally].map(([key, count]) => `${key} ${count}`).toSorted();
    const keyOf = new Map([...waf.ids].map(([key, id]) => [id, key.replace('site:', '')]));
    let counted: string[] = [];
    await eventually(async () => {
      const { text } = await waf.live.control.get('/metrics', false);
      const sums = new Map<string, number>();
      const line = /^waf_request_outcomes_total\{(.*)\} (\d+)$/gm;
      for (const [, labels = '', count] of text.matchAll(line)) {
        const site = /site_id="([^"]*)"/.exec(labels)?.[1] ?? '';
        const outcome = /outcome="([^"]*)"/.exec(labels)?.[1] ?? '';
        const key = `${keyOf.get(site) ?? ''} ${outcome}`;
        sums.set(key, (sums.get(key) ?? 0) + Number(count));
      }
      counted = [...sums].map(([key, count]) => `${key} ${count}`).toSorted();
      return counted.join('\n') === expected.join('\n');
    }).catch(() => undefined);
    expect(counted).toEqual(expected);
  });

  test('there are as many rows as were asked for, each with a name of its own', () => {
    expect(allRows.length).toBeGreaterThanOrEqual(rowsMin);
    expect(new Set(allRows.map(({ says }) => says)).size).toBe(allRows.length);
    const runs = allRows.reduce((sum, row) => sum + (row.ways ?? ways).length, 0);
    expect(runs).toBeGreaterThanOrEqual(runsMin);
    expect(sent).toBeGreaterThanOrEqual(runs);
  });
});

function outcomeOf({ status, outcome }: ChainExpected): string {
  return outcome ?? (status === 200 ? 'served' : 'blocked');
}

function answerFaults({ status, fields, body }: ChainAnswer, expected: ChainExpected): string[] {
  const wanted: Record<string, string | null> = { ...expected.fields };
  if (expected.origin !== undefined) wanted['x-origin'] = expected.origin;
  if (expected.target !== undefined) wanted['x-target'] = expected.target;
  const faults = Object.entries(wanted).flatMap(([name, value]) =>
    (fields[name] ?? null) === value ? [] : [`${name}: ${fields[name]}, not ${value}`],
  );
  for (const [name, form] of Object.entries(expected.forms ?? {})) {
    if (!form.test(fields[name] ?? '')) faults.push(`${name}: ${fields[name]}, not ${form}`);
  }
  if (status !== expected.status) faults.unshift(`status ${status}, not ${expected.status}`);
  if (expected.body !== undefined && !body.includes(expected.body)) {
    faults.push(`body without ${expected.body}`);
  }
  return faults;
}

function eventFaults(event: Json, expected: ChainExpected, siteId: string): string[] {
  const transaction = event['transaction'] as Json | null;
  const rules = ((transaction?.['matchedRules'] ?? []) as Json[]).map((one) => one['ruleId']);
  const notes = ((event['guards'] ?? []) as Json[]).map(
    (one) => `${String(one['guard'])} ${String(one['action'])}`,
  );
  const pairs: (readonly [string, unknown, unknown])[] = [
    ['site', event['siteId'], siteId],
    ['outcome', event['outcome'], outcomeOf(expected)],
    ['logged status', event['status'], expected.logged ?? expected.status],
    ['guards', notes.join(', '), (expected.guards ?? []).join(', ')],
  ];
  if (outcomeOf(expected) === 'refused') {
    pairs.push(['refusal', event['refusal'], expected.refusal]);
  }
  if (expected.uninspected !== undefined) {
    pairs.push(['uninspected', transaction === null, expected.uninspected]);
  }
  const { with: must = [], without = [] } = expected;
  return [
    ...pairs.flatMap(([name, seen, wanted]) =>
      seen === wanted ? [] : [`${name} ${String(seen)}, not ${String(wanted)}`],
    ),
    ...must.filter((id) => !rules.includes(id)).map((id) => `no ${id}, only ${rules.join(' ')}`),
    ...without.filter((id) => rules.includes(id)).map((id) => `a match of ${id}`),
  ];
}
