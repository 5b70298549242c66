/**
 * Sends GoTestWAF's payloads through a live proxy under the policy Standard with CRS 4.28 and
 * compares the rates with what nginx with ModSecurity 3 reaches under the same rules.
 */

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { exchange } from '../../control/cli/policy/crs-test/exchange.ts';
import { readCorpus } from '../seclang/corpus.ts';
import {
  countRates,
  endingOf,
  passedPercent,
  rateTable,
  stoppedPercent,
  type Payload,
  type Sent,
} from './gotestwaf-rates.ts';
import { lastingData } from '../support/databases.ts';
import { crs4Folder, findCorpus, startStandard } from './standard-proxy.ts';

const timeoutMs = 10_000;
/** Connections at a time. */
const lanes = 4;

/** What nginx with libmodsecurity 3.0.9 and the same rules stops and passes, percent. */
const levels = [
  { paranoia: 1, stoppedMin: 49.2, passedMin: 90.8 },
  { paranoia: 2, stoppedMin: 55.7, passedMin: 62.4 },
] as const;

const found = findCorpus('gotestwaf.jsonl', crs4Folder);
const payloads = found === null ? null : readCorpus<Payload>('gotestwaf.jsonl');

interface Rendering {
  readonly payload: Payload;
  readonly form: string;
  readonly wire: Buffer;
}

function renderings(all: readonly Payload[]): { sendable: Rendering[]; unrendered: number } {
  const sendable: Rendering[] = [];
  let unrendered = 0;
  for (const payload of all) {
    for (const { placeholder, encoder, wire_b64 } of payload.requests) {
      if (wire_b64 === undefined) unrendered++;
      else {
        const wire = Buffer.from(wire_b64, 'base64');
        sendable.push({ payload, form: `${placeholder}/${encoder}`, wire });
      }
    }
  }
  return { sendable, unrendered };
}

async function sendAll(port: number, all: readonly Rendering[]): Promise<Sent[]> {
  const sent: Sent[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < all.length; index = next++) {
      const { payload, form, wire } = all[index]!;
      const { status } = await exchange(port, wire, timeoutMs, null, () => undefined);
      const { title, set, malicious } = payload;
      const ending = endingOf(status);
      sent[index] = { title, set, case: payload.case, malicious, form, status, ending };
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return sent;
}

describe.skipIf(payloads === null)('GoTestWAF under Standard with CRS 4.28', () => {
  test.each(levels)('paranoia level $paranoia', { timeout: 900_000 }, async (level) => {
    const { sendable, unrendered } = renderings(payloads ?? []);
    const proxy = await startStandard(level.paranoia);
    let sent: Sent[];
    try {
      sent = await sendAll(proxy.engine.port, sendable);
    } finally {
      await proxy.close();
    }
    const rates = countRates(sent);
    const report = path.join(lastingData, `gotestwaf-pl${level.paranoia}.json`);
    writeFileSync(report, JSON.stringify({ unrendered, ...rates, sent }, null, 1) + '\n');
    const stopped = stoppedPercent(rates.allAttacks);
    const passed = passedPercent(rates.allBenign);
    console.log(
      `paranoia ${level.paranoia}: ${stopped.toFixed(1)} % of attacks stopped, ` +
        `${passed.toFixed(1)} % of benign requests passed, ${unrendered} not rendered; ` +
        `${report}\n${rateTable(rates)}`,
    );
    expect(sent.filter(({ status }) => status === 0 || status >= 500)).toEqual([]);
    expect(sent).toHaveLength(sendable.length);
    expect(stopped).toBeGreaterThanOrEqual(level.stoppedMin);
    expect(passed).toBeGreaterThanOrEqual(level.passedMin);
  });
});
