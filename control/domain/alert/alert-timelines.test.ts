/**
 * Timelines of alerts with a clock of their own: what holds when, what operators do, and which
 * messages that gives. A round of evaluation every ten seconds, as a row's script says.
 */

import { expect, test } from 'vitest';
import { readCondition } from './alert-condition.ts';
import { closeAlerts, evaluateRule, moved, type AlertChange } from './alert-evaluate.ts';
import type { AlertMatch } from './alert-facts.ts';
import type { AlertRecord, AlertRuleRecord, AlertSilenceRecord } from './alert-records.ts';
import { alertTable, isLive, shownState, type AlertMove, type AlertState } from './alert-states.ts';

interface Timeline {
  readonly is: string;
  /** Seconds that the condition must hold, and between repeats; 0 and 60 unless stated. */
  readonly holds?: number;
  readonly repeats?: number;
  /**
   * `SECONDS WHAT`, in order: `+` the condition holds from here on, `-` it does not, `?` nothing is
   * known, `ack`, `resolve`, `silence SECONDS`, `unsilence`, `changed`, `disabled`, `deleted`.
   */
  readonly script: readonly string[];
  /** Last second. */
  readonly until: number;
  /** `EVENT@SECONDS` of every message. */
  readonly messages: string;
  /** `STATE/REASON` of every alert, by opening. */
  readonly ends: string;
}

const timelines: readonly Timeline[] = [
  { is: 'nothing holds', script: [], until: 100, messages: '', ends: '' },
  {
    is: 'fires at once',
    ...{ script: ['0 +'], until: 30, messages: 'firing@0', ends: 'firing/' },
  },
  {
    is: 'recovers when it clears',
    ...{ script: ['0 +', '30 -'], until: 60 },
    ...{ messages: 'firing@0 resolved@30', ends: 'resolved/condition_cleared' },
  },
  {
    is: 'repeats while it holds',
    ...{ script: ['0 +'], until: 130, messages: 'firing@0 repeat@60 repeat@120' },
    ends: 'firing/',
  },
  {
    is: 'does not repeat where the rule says never',
    ...{ repeats: 0, script: ['0 +'], until: 4000, messages: 'firing@0', ends: 'firing/' },
  },
  {
    is: 'repeats count from the last message',
    ...{ repeats: 100, script: ['0 +'], until: 230 },
    ...{ messages: 'firing@0 repeat@100 repeat@200', ends: 'firing/' },
  },
  {
    is: 'ends after a repeat',
    ...{ script: ['0 +', '70 -'], until: 100 },
    ...{ messages: 'firing@0 repeat@60 resolved@70', ends: 'resolved/condition_cleared' },
  },
  {
    is: 'what comes back opens a second alert',
    ...{ script: ['0 +', '20 -', '40 +'], until: 50 },
    ...{ messages: 'firing@0 resolved@20 firing@40', ends: 'resolved/condition_cleared firing/' },
  },
  {
    is: 'waits until it held for long enough',
    ...{ holds: 30, script: ['0 +'], until: 40, messages: 'firing@30', ends: 'firing/' },
  },
  {
    is: 'is pending meanwhile',
    ...{ holds: 30, script: ['0 +'], until: 20, messages: '', ends: 'pending/' },
  },
  {
    is: 'says nothing of what cleared while it was pending',
    ...{ holds: 30, script: ['0 +', '20 -'], until: 60 },
    ...{ messages: '', ends: 'resolved/condition_cleared' },
  },
  {
    is: 'each new hold waits anew',
    ...{ holds: 30, script: ['0 +', '20 -', '40 +'], until: 80 },
    ...{ messages: 'firing@70', ends: 'resolved/condition_cleared firing/' },
  },
  {
    is: 'nothing known keeps a firing alert',
    ...{ repeats: 0, script: ['0 +', '20 ?'], until: 100, messages: 'firing@0', ends: 'firing/' },
  },
  {
    is: 'nothing known opens nothing',
    ...{ script: ['0 ?'], until: 100, messages: '', ends: '' },
  },
  {
    is: 'nothing known keeps a pending alert pending',
    ...{ holds: 30, script: ['0 +', '10 ?'], until: 100, messages: '', ends: 'pending/' },
  },
  {
    is: 'what held before and after a time without knowledge is one alert',
    ...{ repeats: 0, script: ['0 +', '20 ?', '50 +', '80 -'], until: 90 },
    ...{ messages: 'firing@0 resolved@80', ends: 'resolved/condition_cleared' },
  },
  {
    is: 'an acknowledged alert does not repeat',
    ...{ script: ['0 +', '15 ack'], until: 200, messages: 'firing@0', ends: 'acked/' },
  },
  {
    is: 'an acknowledged alert recovers',
    ...{ script: ['0 +', '15 ack', '90 -'], until: 100 },
    ...{ messages: 'firing@0 resolved@90', ends: 'resolved/condition_cleared' },
  },
  {
    is: 'an acknowledged pending alert fires without a message',
    ...{ holds: 30, script: ['0 +', '15 ack'], until: 100, messages: '', ends: 'acked/' },
  },
  {
    is: 'who acknowledged while it was pending hears of no end that nobody heard begin',
    ...{ holds: 30, script: ['0 +', '15 ack', '60 -'], until: 100 },
    ...{ messages: '', ends: 'resolved/condition_cleared' },
  },
  {
    is: 'acknowledging twice is refused',
    ...{ script: ['0 +', '15 ack', '25 ack!'], until: 30, messages: 'firing@0', ends: 'acked/' },
  },
  {
    is: 'acknowledging after the end is refused',
    ...{ script: ['0 +', '20 -', '25 ack!'], until: 30 },
    ...{ messages: 'firing@0 resolved@20', ends: 'resolved/condition_cleared' },
  },
  {
    is: 'resolving by hand sends the recovery message',
    ...{ repeats: 0, script: ['0 +', '15 resolve'], until: 200 },
    ...{ messages: 'firing@0 resolved@15', ends: 'closed/operator' },
  },
  {
    is: 'a resolved alert opens no other one while its cause persists for a while',
    ...{ repeats: 600, script: ['0 +', '15 resolve'], until: 300 },
    ...{ messages: 'firing@0 resolved@15', ends: 'closed/operator' },
  },
  {
    is: 'a cause that persists opens a new alert after the time of repeats',
    ...{ repeats: 60, script: ['0 +', '15 resolve'], until: 90 },
    ...{ messages: 'firing@0 resolved@15 firing@80', ends: 'resolved/operator firing/' },
  },
  {
    is: 'a cause that clears and comes back opens a new alert at once',
    ...{ repeats: 0, script: ['0 +', '15 resolve', '30 -', '50 +'], until: 60 },
    ...{ messages: 'firing@0 resolved@15 firing@50', ends: 'resolved/operator firing/' },
  },
  {
    is: 'the reason stays that of the operator when the cause clears later',
    ...{ repeats: 0, script: ['0 +', '15 resolve', '30 -'], until: 60 },
    ...{ messages: 'firing@0 resolved@15', ends: 'resolved/operator' },
  },
  {
    is: 'resolving an acknowledged alert',
    ...{ repeats: 0, script: ['0 +', '15 ack', '25 resolve'], until: 40 },
    ...{ messages: 'firing@0 resolved@25', ends: 'closed/operator' },
  },
  {
    is: 'resolving twice is refused',
    ...{ repeats: 0, script: ['0 +', '15 resolve', '25 resolve!'], until: 40 },
    ...{ messages: 'firing@0 resolved@15', ends: 'closed/operator' },
  },
  {
    is: 'resolving a pending alert sends nothing',
    ...{ holds: 60, repeats: 0, script: ['0 +', '15 resolve'], until: 100 },
    ...{ messages: '', ends: 'closed/operator' },
  },
  {
    is: 'a silence keeps the firing message away',
    ...{ script: ['0 silence 1000', '0 +'], until: 200, messages: '', ends: 'firing/' },
  },
  {
    is: 'after the silence the firing message is sent',
    ...{ script: ['0 silence 95', '0 +'], until: 120, messages: 'firing@100', ends: 'firing/' },
  },
  {
    is: 'what ended within a silence is never reported',
    ...{ script: ['0 silence 100', '0 +', '50 -'], until: 200 },
    ...{ messages: '', ends: 'resolved/condition_cleared' },
  },
  {
    is: 'a silence keeps repeats away',
    ...{ script: ['0 +', '15 silence 100'], until: 110, messages: 'firing@0', ends: 'firing/' },
  },
  {
    is: 'after a silence an overdue repeat is sent',
    ...{ script: ['0 +', '15 silence 100'], until: 125 },
    ...{ messages: 'firing@0 repeat@120', ends: 'firing/' },
  },
  {
    is: 'a silence keeps the recovery message away',
    ...{ script: ['0 +', '15 silence 100', '30 -'], until: 200 },
    ...{ messages: 'firing@0', ends: 'resolved/condition_cleared' },
  },
  {
    is: 'ending a silence early ends it',
    ...{ script: ['0 silence 1000', '0 +', '25 unsilence'], until: 40 },
    ...{ messages: 'firing@30', ends: 'firing/' },
  },
  {
    is: 'an alert acknowledged within a silence is not reported after it',
    ...{ script: ['0 silence 50', '0 +', '15 ack'], until: 100, messages: '', ends: 'acked/' },
  },
  {
    is: 'a changed rule ends its alerts, and what holds opens new ones',
    ...{ repeats: 0, script: ['0 +', '15 changed'], until: 30 },
    ...{ messages: 'firing@0 resolved@15 firing@20', ends: 'resolved/rule_changed firing/' },
  },
  {
    is: 'a changed rule whose condition no longer holds',
    ...{ script: ['0 +', '15 changed', '15 -'], until: 30 },
    ...{ messages: 'firing@0 resolved@15', ends: 'resolved/rule_changed' },
  },
  {
    is: 'a changed rule ends a pending alert without a message',
    ...{ holds: 30, script: ['0 +', '15 changed', '15 -'], until: 60 },
    ...{ messages: '', ends: 'resolved/rule_changed' },
  },
  {
    is: 'a changed rule ends an acknowledged alert',
    ...{ script: ['0 +', '5 ack', '15 changed', '15 -'], until: 30 },
    ...{ messages: 'firing@0 resolved@15', ends: 'resolved/rule_changed' },
  },
  {
    is: 'a disabled rule ends its alerts and opens none',
    ...{ script: ['0 +', '15 disabled'], until: 100 },
    ...{ messages: 'firing@0 resolved@15', ends: 'resolved/rule_disabled' },
  },
  {
    is: 'a removed rule ends its alerts',
    ...{ script: ['0 +', '15 deleted'], until: 100 },
    ...{ messages: 'firing@0 resolved@15', ends: 'resolved/rule_deleted' },
  },
  {
    is: 'a removed rule keeps the reason of the operator',
    ...{ script: ['0 +', '5 resolve', '15 deleted'], until: 100 },
    ...{ messages: 'firing@0 resolved@5', ends: 'resolved/operator' },
  },
  {
    is: 'a rule removed within a silence',
    ...{ script: ['0 +', '5 silence 100', '15 deleted'], until: 100 },
    ...{ messages: 'firing@0', ends: 'resolved/rule_deleted' },
  },
  {
    is: 'flapping gives one message for each change',
    ...{ script: ['0 +', '10 -', '20 +', '30 -'], until: 40 },
    messages: 'firing@0 resolved@10 firing@20 resolved@30',
    ends: 'resolved/condition_cleared resolved/condition_cleared',
  },
];

const startMs = Date.UTC(2030, 0, 1);
const match: AlertMatch = { key: 'k', siteId: 's', agentId: '', subject: 'shop', payload: {} };

/** A rule, its alerts and the messages about them, with a clock. */
class Simulation {
  readonly alerts = new Map<string, AlertRecord>();
  readonly messages: string[] = [];
  silences: AlertSilenceRecord[] = [];
  holds: '+' | '-' | '?' = '-';
  rules = true;
  readonly #rule: AlertRuleRecord;
  readonly #repeatSeconds: number;
  readonly #condition;

  constructor({ holds = 0, repeats = 60 }: Timeline) {
    const expression = JSON.stringify({
      ...{ kind: 'node_offline', forSeconds: holds, repeatSeconds: repeats },
    });
    this.#condition = readCondition(expression, 'expression');
    this.#repeatSeconds = repeats;
    this.#rule = {
      ...{ id: 'r', tenantId: 't', name: 'rule', enabled: true, expression, channelIds: [] },
      ...{ severity: 'ALERT_SEVERITY_WARNING', createdAt: '', updatedAt: '' },
    };
  }

  live(): AlertRecord[] {
    return [...this.alerts.values()].filter(({ state }) => isLive(state));
  }

  round(second: number): void {
    if (!this.rules) return;
    const { changes } = evaluateRule({
      ...{ rule: this.#rule, condition: this.#condition, live: this.live(), room: 10 },
      ...this.#around(second),
      finding: { matches: this.holds === '+' ? [match] : [], unknown: () => this.holds === '?' },
      newId: () => String(this.alerts.size),
    });
    this.#keep(changes, second);
  }

  act(second: number, what: string): void {
    const [verb = '', seconds = ''] = what.split(' ');
    if (verb === '+' || verb === '-' || verb === '?') this.holds = verb;
    else if (verb === 'silence') this.#silence(second, Number(seconds));
    else if (verb === 'unsilence') this.silences = [];
    else if (verb === 'changed' || verb === 'disabled' || verb === 'deleted') {
      this.rules = verb === 'changed';
      this.#keep(closeAlerts(this.live(), `rule_${verb}`, this.#around(second)), second);
    } else this.#byHand(second, verb);
  }

  #byHand(second: number, verb: string): void {
    const move = verb.replace('!', '') as AlertMove;
    const change = moved([...this.alerts.values()].at(-1)!, move, this.#around(second));
    if ((change === null) !== verb.endsWith('!')) throw new Error(`at ${second}: ${verb}`);
    if (change !== null) this.#keep([change], second);
  }

  #silence(second: number, seconds: number): void {
    const at = (after: number): string => new Date(startMs + after * 1000).toISOString();
    this.silences.push({
      ...{ id: `q${second}`, tenantId: 't', matchers: { ruleId: 'r' }, startsAt: at(second) },
      ...{ endsAt: at(second + seconds), createdBy: '', reason: '', createdAt: at(second) },
    });
  }

  #around(second: number) {
    const nowMs = startMs + second * 1000;
    return { silences: this.silences, repeatSeconds: this.#repeatSeconds, nowMs };
  }

  #keep(changes: readonly AlertChange[], second: number): void {
    for (const { after, event } of changes) {
      this.alerts.set(after.id, after);
      if (event !== null) this.messages.push(`${event}@${second}`);
    }
  }
}

test.each(timelines.map((row) => [row.is, row] as const))('%s', (_, row) => {
  const simulation = new Simulation(row);
  const script = row.script.map((line) => {
    const at = line.indexOf(' ');
    return { second: Number(line.slice(0, at)), what: line.slice(at + 1) };
  });
  for (let second = 0; second <= row.until; second += 5) {
    for (const step of script) if (step.second === second) simulation.act(second, step.what);
    if (second % 10 === 0) simulation.round(second);
  }
  expect(simulation.messages.join(' ')).toBe(row.messages);
  const ends = [...simulation.alerts.values()].map((one) => `${one.state}/${one.closedReason}`);
  expect(ends.join(' ')).toBe(row.ends);
});

test('there are at least forty timelines, and each of them ran', () => {
  expect(timelines.length).toBeGreaterThanOrEqual(40);
  expect(new Set(timelines.map(({ is }) => is)).size).toBe(timelines.length);
  console.log(`timelines of alerts: ${timelines.length} rows`);
});

/** Where each state leads, by move: `-` where it is refused. */
const table: Readonly<Record<AlertState, string>> = {
  pending: 'pending firing resolved pending_acked closed_pending - resolved resolved resolved',
  pending_acked: 'pending_acked acked resolved - closed_pending - resolved resolved resolved',
  firing: 'firing firing resolved acked closed - resolved resolved resolved',
  acked: 'acked acked resolved - closed - resolved resolved resolved',
  closed_pending: 'closed_pending closed resolved - - resolved resolved resolved resolved',
  closed: 'closed closed resolved - - resolved resolved resolved resolved',
  resolved: '- - - - - - - - -',
};
const moves: readonly AlertMove[] = [
  ...(['match', 'due', 'clear', 'ack', 'resolve', 'persist'] as const),
  ...(['rule_changed', 'rule_disabled', 'rule_deleted'] as const),
];

test('the table of states leads where it is meant to, and says why an alert ended', () => {
  for (const [state, wanted] of Object.entries(table)) {
    const steps = alertTable[state as AlertState];
    expect(Object.keys(steps).sort()).toEqual([...moves].sort());
    expect(moves.map((move) => steps[move]?.to ?? '-').join(' ')).toBe(wanted);
    for (const move of moves) {
      const step = steps[move];
      if (step === null) continue;
      const active = shownState(state as AlertState).status !== 'ALERT_STATUS_RESOLVED';
      const ends = shownState(step.to).status === 'ALERT_STATUS_RESOLVED';
      // What ends for people ends once, with a time and a reason.
      expect(step.does.includes('close')).toBe(active && ends);
      if (step.does.includes('recover')) expect(['firing', 'acked']).toContain(state);
    }
  }
});
