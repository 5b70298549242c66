/**
 * Simulated days of a site that learns: 200 people write in some parameters, and somebody with 100
 * networks tries to have signs of attacks taken for content. Inspected by the engine that serves
 * traffic; the same for the same seed.
 */

import { createHash } from 'node:crypto';
import type { LearnedDecision } from '../../../control/domain/policy/detection-learning.ts';
import { startDice } from '../../worst/search.ts';
import type { TransactionRecord } from '../../../engine/contract/verdict.ts';
import { contentOf } from '../../../engine/detect/learning/site-content.ts';
import type { PolicyEngine } from '../../../engine/rules/run/policy-engine.ts';
import { parseRequest } from '../requests.ts';
import { requestWith } from '../value-request.ts';
import { openLearningSite, type LearningMode, type LearningSite } from './learning-site.ts';

/** Texts that people write in the parameter of this name. */
export interface Written {
  readonly name: string;
  readonly texts: readonly string[];
}

/** A text as the value of a parameter, from one address. */
export interface SentText {
  readonly clientIp: string;
  readonly name: string;
  readonly text: string;
}

/** What an attacker sends in an hour; see `attackers`. */
export type Attacker = (hour: number) => Iterable<SentText>;

/** What is simulated. */
export interface DayPlan {
  readonly engine: PolicyEngine;
  readonly mode: LearningMode;
  readonly written: readonly Written[];
  readonly attacker: Attacker | null;
  readonly seed: number;
}

/** A site at the end of its day, and the judgment of further texts by what is in force there. */
export interface EndedDay {
  readonly site: LearningSite;
  readonly refuses: (name: string, text: string) => boolean;
}

/** Clients of a site, and how many hours each waits before it writes again. */
const people = { clients: 200, everyHours: 4 } as const;
const hours = 24;
const hourMs = 3_600_000;
const method = 'POST';
const target = '/write';

/** Simulates one day. */
export async function runDay(plan: DayPlan): Promise<EndedDay> {
  const { engine, mode, written, attacker, seed } = plan;
  const site = await openLearningSite(mode);
  const inspector = new Inspector(engine, site);
  const dice = startDice(seed);
  const send = ({ clientIp, name, text }: SentText): void => {
    const transaction = inspector.inspect(name, text);
    const blocked = transaction.verdict.action !== 'pass';
    const answer = blocked
      ? ({ outcome: 'blocked', status: 403 } as const)
      : ({ outcome: 'served', status: 200 } as const);
    site.count({ clientIp, method, target, transaction, ...answer });
  };
  for (let hour = 0; hour < hours; hour++) {
    for (const sent of attacker?.(hour) ?? []) send(sent);
    for (let at = 0; at < people.clients; at++) {
      if ((at + hour) % people.everyHours !== 0) continue;
      for (const { name, texts } of written) {
        send({ clientIp: `10.1.${at}.7`, name, text: texts[dice(texts.length)]! });
      }
    }
    site.pass(hourMs);
    await site.report();
  }
  return { site, refuses: (name, text) => inspector.refuses(name, text) };
}

/** Inspects texts as values of parameters; what was seen is remembered while contents stay. */
class Inspector {
  private readonly engine: PolicyEngine;
  private readonly site: LearningSite;
  private readonly seen = new Map<string, TransactionRecord>();
  private decisions: readonly LearnedDecision[] = [];

  constructor(engine: PolicyEngine, site: LearningSite) {
    this.engine = engine;
    this.site = site;
  }

  refuses(name: string, text: string): boolean {
    return this.inspect(name, text).verdict.action !== 'pass';
  }

  inspect(name: string, text: string): TransactionRecord {
    const rules = this.site.inForce();
    if (rules.length !== this.decisions.length) this.seen.clear();
    this.decisions = rules;
    const key = `${name} ${createHash('sha256').update(text, 'latin1').digest('base64')}`;
    const known = this.seen.get(key);
    if (known !== undefined) return known;
    const record = this.run(name, text);
    this.seen.set(key, record);
    return record;
  }

  private run(name: string, text: string): TransactionRecord {
    const wire = requestWith(text, 'form', { target, name });
    const { snapshot, body } = parseRequest(wire)!;
    const detectionContent = {
      ...{ format: 1 as const, siteId: 's', generation: 0 },
      rules: this.decisions.map((one) => ({ ...one, family: one.family as never })),
    };
    const content = contentOf({ detectionContent });
    const found = content?.of(method, target, this.site.nowMs()) ?? [];
    const session = this.engine.open({ ...snapshot, content: found });
    if (session.requestHead().action === 'pass') session.requestBody(body);
    return session.finish();
  }
}

/** By family the first text that shows weak signs of it and of no other. */
export async function weakTextsOf(
  engine: PolicyEngine,
  texts: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const inspector = new Inspector(engine, await openLearningSite('suggest'));
  const found = new Map<string, string>();
  for (const text of texts) {
    const [sign, ...more] = inspector.inspect('q', text).valueSigns ?? [];
    if (sign === undefined || more.length > 0 || found.has(sign.family)) continue;
    found.set(sign.family, text);
  }
  return found;
}
