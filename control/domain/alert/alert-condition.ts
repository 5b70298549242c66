/** What the condition of a rule may be: JSON, checked, with every standard value stated. Pure. */

import { alertLimits } from '../../limits/alert-limits.ts';
import { invalidField } from '../errors.ts';

/** What rules look for. */
export const alertKinds = [
  'security_threshold',
  'node_offline',
  'config_not_applied',
  'config_apply_failed',
  'cert_expiring',
  'origin_down',
  'log_storage',
] as const;

/** One of them. */
export type AlertKind = (typeof alertKinds)[number];

/** Severities from worst to least, as events have them. */
export const eventSeverities = ['critical', 'error', 'warning', 'notice', 'info', 'debug'] as const;

/** Which sites, nodes, events a rule means; '' and [] for all of them. */
export interface AlertFilter {
  readonly siteId: string;
  readonly agentId: string;
  readonly upstreamId: string;
  readonly certificateId: string;
  readonly attackTypes: readonly string[];
  readonly ruleIds: readonly string[];
  readonly outcome: 'any' | 'blocked' | 'passed';
  readonly minimumSeverity: string;
  readonly minimumStatus: 'warning' | 'critical';
}

/** A condition with every value stated. Values that a kind does not know are their standards. */
export interface AlertCondition {
  readonly kind: AlertKind;
  readonly filter: AlertFilter;
  readonly windowSeconds: number;
  readonly threshold: number;
  readonly groupBy: 'site' | 'agent' | 'none';
  readonly withinDays: number;
  /** How long it holds before it fires. */
  readonly forSeconds: number;
  /** 0 sends one message only. */
  readonly repeatSeconds: number;
}

type FilterField = keyof AlertFilter;
type OwnField = 'windowSeconds' | 'threshold' | 'groupBy' | 'withinDays';

interface KindFields {
  readonly filter: readonly FilterField[];
  readonly own: readonly OwnField[];
  /** Standard value of forSeconds. */
  readonly forSeconds: number;
}

/** What each kind knows. */
const fieldsOf: Readonly<Record<AlertKind, KindFields>> = {
  security_threshold: {
    filter: ['siteId', 'agentId', 'attackTypes', 'ruleIds', 'outcome', 'minimumSeverity'],
    own: ['windowSeconds', 'threshold', 'groupBy'],
    forSeconds: 0,
  },
  node_offline: { filter: ['agentId'], own: [], forSeconds: 60 },
  config_not_applied: { filter: ['agentId'], own: [], forSeconds: 120 },
  config_apply_failed: { filter: ['agentId'], own: [], forSeconds: 0 },
  cert_expiring: { filter: ['certificateId', 'siteId'], own: ['withinDays'], forSeconds: 0 },
  origin_down: { filter: ['siteId', 'upstreamId', 'agentId'], own: [], forSeconds: 30 },
  log_storage: { filter: ['minimumStatus'], own: [], forSeconds: 0 },
};

const common = ['kind', 'filter', 'forSeconds', 'repeatSeconds'];

type Fields = Readonly<Record<string, unknown>>;

/** Reads a condition. Errors: invalid_argument under `at`. */
export function readCondition(text: string, at: string): AlertCondition {
  if (text === '') throw invalidField(at, 'is required: a condition as JSON');
  const json = object(parse(text, at), at);
  const kind = alertKinds.find((one) => one === json['kind']);
  if (kind === undefined)
    throw invalidField(`${at}.kind`, `must be one of ${alertKinds.join(', ')}`);
  const { filter: filterFields, own, forSeconds } = fieldsOf[kind];
  refuseUnknown(json, [...common, ...own], at);
  const filter = object(json['filter'] ?? {}, `${at}.filter`);
  refuseUnknown(filter, filterFields, `${at}.filter`);
  const limits = alertLimits;
  const threshold = whole(json, 'threshold', at, 0, 1, limits.thresholdMax);
  if (kind === 'security_threshold' && threshold === 0) {
    throw invalidField(`${at}.threshold`, 'is required: the number of events that fires');
  }
  const repeat = whole(json, 'repeatSeconds', at, limits.repeatSeconds, 0, limits.repeatSecondsMax);
  if (repeat > 0 && repeat < limits.repeatSecondsMin) {
    const problem = `must be 0, for no repetition, or ${limits.repeatSecondsMin} and more`;
    throw invalidField(`${at}.repeatSeconds`, problem);
  }
  return {
    kind,
    filter: readFilter(filter, `${at}.filter`),
    windowSeconds: readWindow(json, at),
    threshold,
    groupBy: choice(json, 'groupBy', at, ['site', 'agent', 'none']),
    withinDays: whole(json, 'withinDays', at, limits.withinDays, 1, limits.withinDaysMax),
    forSeconds: whole(json, 'forSeconds', at, forSeconds, 0, limits.forSecondsMax),
    repeatSeconds: repeat,
  };
}

/** The condition as rules keep and show it: what the kind knows, every value stated. */
export function conditionText(condition: AlertCondition): string {
  const { filter: filterFields, own } = fieldsOf[condition.kind];
  const filter = Object.fromEntries(
    filterFields
      .map((name) => [name, condition.filter[name]] as const)
      .filter(([, value]) => value.length > 0),
  );
  const stated = Object.fromEntries(own.map((name) => [name, condition[name]]));
  const { kind, forSeconds, repeatSeconds } = condition;
  return JSON.stringify({ kind, filter, ...stated, forSeconds, repeatSeconds });
}

function parse(text: string, at: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalidField(at, 'must be JSON such as {"kind":"node_offline"}');
  }
}

function readWindow(json: Fields, at: string): number {
  const { windowSeconds, windowSecondsMin: min, windowSecondsMax: max } = alertLimits;
  const found = whole(json, 'windowSeconds', at, windowSeconds, min, max);
  if (found % min === 0) return found;
  throw invalidField(`${at}.windowSeconds`, `must be a multiple of ${min}`);
}

function readFilter(filter: Fields, at: string): AlertFilter {
  const minimumSeverity = text(filter, 'minimumSeverity', at);
  if (minimumSeverity !== '' && !(eventSeverities as readonly string[]).includes(minimumSeverity)) {
    throw invalidField(`${at}.minimumSeverity`, `must be one of ${eventSeverities.join(', ')}`);
  }
  return {
    siteId: text(filter, 'siteId', at),
    agentId: text(filter, 'agentId', at),
    upstreamId: text(filter, 'upstreamId', at),
    certificateId: text(filter, 'certificateId', at),
    attackTypes: texts(filter, 'attackTypes', at, /^[a-z0-9-]{1,64}$/, 'such as sqli'),
    ruleIds: texts(filter, 'ruleIds', at, /^[1-9]\d{0,9}$/, 'the id of a rule, such as 942100'),
    outcome: choice(filter, 'outcome', at, ['any', 'blocked', 'passed']),
    minimumSeverity,
    minimumStatus: choice(filter, 'minimumStatus', at, ['warning', 'critical']),
  };
}

function object(value: unknown, at: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw invalidField(at, 'must be an object');
}

function refuseUnknown(json: Fields, known: readonly string[], at: string): void {
  if (Object.keys(json).every((name) => known.includes(name))) return;
  throw invalidField(at, `holds an unknown field. Allowed: ${known.join(', ')}`);
}

function whole(
  json: Fields,
  name: string,
  at: string,
  standard: number,
  min: number,
  max: number,
): number {
  const value = json[name] ?? standard;
  if (value === standard) return standard;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) {
    return value;
  }
  throw invalidField(`${at}.${name}`, `must be a whole number from ${min} to ${max}`);
}

function choice<T extends string>(
  json: Fields,
  name: string,
  at: string,
  choices: readonly [T, ...T[]],
): T {
  const value = json[name] ?? choices[0];
  const found = choices.find((one) => one === value);
  if (found !== undefined) return found;
  throw invalidField(`${at}.${name}`, `must be one of ${choices.join(', ')}`);
}

function text(json: Fields, name: string, at: string): string {
  const value = json[name] ?? '';
  if (typeof value === 'string' && /^[!-~]{0,256}$/.test(value)) return value;
  throw invalidField(`${at}.${name}`, 'must be text of at most 256 printable characters');
}

function texts(
  json: Fields,
  name: string,
  at: string,
  pattern: RegExp,
  what: string,
): readonly string[] {
  const value = json[name] ?? [];
  if (!Array.isArray(value) || value.length > alertLimits.filterValuesMax) {
    const most = alertLimits.filterValuesMax;
    throw invalidField(`${at}.${name}`, `must be a list of at most ${most} entries`);
  }
  value.forEach((one: unknown, index) => {
    if (typeof one === 'string' && pattern.test(one)) return;
    throw invalidField(`${at}.${name}[${index}]`, `must be text ${what}`);
  });
  return [...new Set(value as string[])];
}
