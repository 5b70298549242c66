/** Gates and navigations for tests. */

import { create } from '@bufbuild/protobuf';
import type { BotConfig } from '../../engine/contract/bot.ts';
import type { GuardVerdict } from '../../engine/contract/guard.ts';
import { plain } from '../../engine/contract/plain.ts';
import type { SiteConfig } from '../../engine/contract/site.ts';
import { noGuardServices, type Guard, type GuardServices } from '../../engine/guard/guard.ts';
import { RateTable, shareRates } from '../../engine/guard/rate-table.ts';
import { RuntimeBotSchema } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { viewOf, type Asked } from './request-view.ts';
import { botGate } from '../../engine/guard/bot/bot-gate.ts';
import { Challenges } from '../../engine/guard/bot/challenges.ts';
import { readPage, solve } from './challenge-solver.ts';

/** A gate as sites have it unless a test wants another one; the proof takes little time. */
export const usual: BotConfig = {
  ...plain(create(RuntimeBotSchema)),
  mode: 'browser_check',
  challengeTtlSeconds: 120,
  clearanceTtlSeconds: 3_600,
  proofDifficulty: 12,
  trusted: [],
};

/** Of the nodes of a test. */
export const key = Buffer.alloc(32, 7);

/** What the guards of a thread share. */
export function servicesOf(table = new RateTable(shareRates([1, 2], 16))): GuardServices {
  return { ...noGuardServices, rates: table, challenges: new Challenges(table, key) };
}

/** The gate of a site. */
export function gateOf(change: Partial<BotConfig> = {}, services = servicesOf(), id = 'a'): Guard {
  const site = { id, hosts: ['a.example'], bot: { ...usual, ...change } } as unknown as SiteConfig;
  return botGate.compile(site, services)!;
}

const html = 'Accept: text/html,application/xhtml+xml';

/** A navigation of a browser. */
export function browse(guard: Guard, asked: Asked = {}): GuardVerdict | null {
  return guard.decide(viewOf({ ...asked, fields: [html, ...(asked.fields ?? [])] }));
}

/** A verdict in a few words; '' for none. */
export function reasonOf(verdict: GuardVerdict | null): string {
  return verdict === null ? '' : `${verdict.action} ${verdict.reason} ${verdict.status}`;
}

/** Solves a challenge; the answer to the solution. */
export function pass(guard: Guard, asked: Asked = {}): GuardVerdict | null {
  const page = readPage(browse(guard, asked));
  return handIn(guard, page.token, solve(page), asked);
}

/** Hands a solution in. */
export function handIn(
  guard: Guard,
  token: string,
  nonce: string,
  asked: Asked = {},
): GuardVerdict | null {
  return browse(guard, { ...asked, target: `/.waf-check/pass?token=${token}&nonce=${nonce}` });
}
