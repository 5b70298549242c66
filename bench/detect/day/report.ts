/** Tables of simulated days: what is learned, what attackers reach, and what is refused after. */

import type { LearnedProposal } from '../../../control/domain/policy/detection-learning.ts';
import { markdownTable } from '../../report/table.ts';
import type { PolicyEngine } from '../../../engine/rules/run/policy-engine.ts';
import { formatShare, wilson } from '../intervals.ts';
import type { LabelledRequest } from '../requests.ts';
import { longestArgument, samplePayloads, type Payload } from '../robust.ts';
import { attackersOf, type WeakTexts } from './attackers.ts';
import { runDay, weakTextsOf, type EndedDay, type Written } from './day.ts';

/** Families of one value that an attacker may have a site learn in a day. */
export const blindedMax = 1;

const attacksPerClass = 40;
/** A class with fewer texts is no content of a parameter. */
const textsMin = 5;

/** What days are simulated with. */
interface DaysPlan {
  readonly engine: PolicyEngine;
  readonly requests: readonly LabelledRequest[];
  readonly seed: number;
}

/** What came of an attacker's day. */
interface AttackedDay {
  readonly attacker: string;
  /** Contents in force that people's texts alone lead to, of all such. */
  readonly learned: number;
  readonly ofPeople: number;
  /** In force, and suggested without the attacker: people write it, too few for `auto`. */
  readonly raised: number;
  /** In force, and not suggested without the attacker. */
  readonly blinded: number;
}

/** Simulates all days. Cost: some seconds each. */
export async function simulateDays({ engine, requests, seed }: DaysPlan) {
  const written = writtenOf(requests);
  if (written.length === 0) {
    throw new Error(`--day: expected ${textsMin} benign texts or more of one class`);
  }
  const attacks = samplePayloads(requests, attacksPerClass, seed);
  const plan = { engine, written, seed };
  const suggest = await runDay({ ...plan, mode: 'suggest', attacker: null });
  const auto = await runDay({ ...plan, mode: 'auto', attacker: null });
  const weak = await weakTextsOf(engine, [
    ...written.flatMap(({ texts }) => texts),
    ...attacks.map(({ text }) => text),
  ]);
  const suggested = suggest.site.proposals();
  const attacked = await attackedDays(plan, weak, { suggested, auto });
  const refused = await refusedAfter(written, attacks, { suggest, auto });
  return { suggested, byItself: auto.site.inForce(), attacked, refused };
}

/** The tables for people. */
export function daysReport(days: Awaited<ReturnType<typeof simulateDays>>): string {
  const { suggested, byItself, attacked, refused } = days;
  const isLearned = (one: LearnedProposal): boolean => byItself.some(({ id }) => id === one.id);
  const values = suggested.map((one) => [
    ...[one.name, one.family, String(one.clients), String(one.hours)],
    isLearned(one) ? 'learned with auto' : 'suggested',
  ]);
  const reached = attacked.map(({ attacker, learned, ofPeople, raised, blinded }) => [
    ...[attacker, `${learned} of ${ofPeople}`, String(raised), String(blinded)],
  ]);
  return [
    markdownTable(['value', 'signs of', 'clients', 'hours', ''], values),
    markdownTable(
      ['100 networks send', 'contents of people learned', 'suggested ones raised', 'blinded'],
      reached,
    ),
    markdownTable(
      ['refused of', 'texts', 'before', 'learned with auto', 'all suggestions accepted'],
      refused.map(({ of, count, before, learned, accepted }) => [
        ...[of, String(count)],
        ...[before, learned, accepted].map((one) => formatShare(wilson(one, count))),
      ]),
    ),
  ].join('\n\n');
}

/** Texts of benign values by class; each class is what people write in one parameter. */
function writtenOf(requests: readonly LabelledRequest[]): Written[] {
  const kinds = new Map<string, Set<string>>();
  for (const { attack, kind, id, wire } of requests) {
    if (attack || !id.endsWith('/query')) continue;
    const texts = kinds.get(kind) ?? new Set();
    kinds.set(kind, texts.add(longestArgument(wire)));
  }
  return [...kinds]
    .filter(([, texts]) => texts.size >= textsMin)
    .map(([name, texts]) => ({ name, texts: [...texts] }));
}

interface PeoplesDays {
  readonly suggested: readonly LearnedProposal[];
  readonly auto: EndedDay;
}

async function attackedDays(
  plan: Pick<DaysPlan, 'engine' | 'seed'> & { readonly written: readonly Written[] },
  weak: WeakTexts,
  { suggested, auto }: PeoplesDays,
): Promise<AttackedDay[]> {
  const names = plan.written.map(({ name }) => name);
  const own = new Set(auto.site.inForce().map(({ id }) => id));
  const shown = new Set(suggested.map(({ id }) => id));
  const days: AttackedDay[] = [];
  for (const [attacker, send] of Object.entries(attackersOf(weak, names))) {
    const { site } = await runDay({ ...plan, mode: 'auto', attacker: send });
    const ids = site.inForce().map(({ id }) => id);
    const count = (is: (id: string) => boolean): number => ids.filter(is).length;
    days.push({
      attacker,
      learned: count((id) => own.has(id)),
      ofPeople: own.size,
      raised: count((id) => !own.has(id) && shown.has(id)),
      blinded: count((id) => !own.has(id) && !shown.has(id)),
    });
  }
  return days;
}

/** Of texts or attacks, those that are refused on a site in three states. */
interface Refused {
  readonly of: string;
  readonly count: number;
  readonly before: number;
  readonly learned: number;
  readonly accepted: number;
}

/** Texts in their own parameters, and attacks in each parameter in which something is content. */
async function refusedAfter(
  written: readonly Written[],
  attacks: readonly Payload[],
  { suggest, auto }: Readonly<Record<'suggest' | 'auto', EndedDay>>,
): Promise<Refused[]> {
  const valuesOf = (day: EndedDay): string[] => [
    ...new Set(day.site.inForce().map(({ name }) => name.slice('ARGS:'.length))),
  ];
  const learnedNames = valuesOf(auto);
  const texts = written.map(({ name, texts: own }) => ({
    ...{ of: name, count: own.length },
    before: refusedIn(suggest, [name], own),
    learned: refusedIn(auto, [name], own),
  }));
  const sent = attacks.map(({ text }) => text);
  const alone = refusedIn(suggest, ['unknown'], sent);
  const learned = refusedIn(auto, learnedNames, sent);
  await acceptAll(suggest);
  const acceptedNames = valuesOf(suggest);
  const accepted = refusedIn(suggest, acceptedNames, sent);
  const share = (count: number, names: readonly string[]): number =>
    names.length === 0 ? alone : Math.round(count / names.length);
  return [
    ...texts.map((one, at) => ({
      ...one,
      accepted: refusedIn(suggest, [one.of], written[at]!.texts),
    })),
    {
      ...{ of: 'attacks, in values with contents', count: sent.length, before: alone },
      ...{ learned: share(learned, learnedNames), accepted: share(accepted, acceptedNames) },
    },
  ];
}

function refusedIn(day: EndedDay, names: readonly string[], texts: readonly string[]): number {
  return names.reduce(
    (sum, name) => sum + texts.filter((text) => day.refuses(name, text)).length,
    0,
  );
}

/** Accepts what is suggested; of one value the family that most clients show. */
async function acceptAll({ site }: EndedDay): Promise<void> {
  const seen = new Set<string>();
  for (const one of site.proposals()) {
    if (seen.has(one.name)) continue;
    seen.add(one.name);
    await site.accept(one);
  }
}
