/**
 * Virtual patches: custom rules that stop the exploitation of one known fault until the software is
 * mended. A patch states where it looks, when it ends, and requests that prove it.
 */

import { virtualPatchTag } from '../../../base/rule-tags.ts';
import { invalidField } from '../errors.ts';
import {
  readPatchConditions,
  type PatchCondition,
  type PatchObject,
  textOf,
} from './virtual-patch-conditions.ts';

/** A request that proves a patch. */
export interface PatchRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly expect: 'match' | 'pass';
}

/** A patch as it was checked. */
export interface VirtualPatch {
  /** Of the fault, for example `CVE-2021-44228`. */
  readonly id: string;
  readonly references: readonly string[];
  /** SecLang's number of it. */
  readonly severity: number;
  /** Milliseconds since 1970; null for a patch without an end. */
  readonly expiresAtMs: number | null;
  readonly conditions: readonly PatchCondition[];
  readonly requests: readonly PatchRequest[];
}

const severities: Readonly<Record<string, number>> = {
  critical: 2,
  error: 3,
  warning: 4,
  notice: 5,
};
const fields = ['id', 'references', 'severity', 'expires', 'conditions', 'requests'];
const requestFields = ['method', 'url', 'headers', 'body', 'expect'];
const bounds = { references: 10, conditions: 16, requests: 20, text: 2_048, body: 65_536 } as const;

/** Reads a patch. Errors: invalid_argument naming the field under `at`. */
export function readVirtualPatch(value: unknown, at: string): VirtualPatch {
  const from = objectOf(value, at);
  onlyFields(from, fields, at);
  const id = textOf(from, 'id', at);
  if (!/^[A-Za-z][A-Za-z0-9_.-]{2,63}$/.test(id)) {
    throw invalidField(`${at}.id`, 'must be the id of a fault, such as CVE-2021-44228');
  }
  const severity = textOf(from, 'severity', at, 'critical');
  const level = Object.hasOwn(severities, severity) ? severities[severity] : undefined;
  if (level === undefined) {
    throw invalidField(`${at}.severity`, `must be one of ${Object.keys(severities).join(', ')}`);
  }
  return {
    id,
    references: readReferences(from['references'], `${at}.references`),
    severity: level,
    expiresAtMs: readEnd(from, at),
    conditions: readPatchConditions(
      listOf(from['conditions'], `${at}.conditions`, bounds.conditions),
      `${at}.conditions`,
    ),
    requests: readRequests(from['requests'], `${at}.requests`),
  };
}

/** True once a patch has no effect any more. */
export function patchExpired({ expiresAtMs }: VirtualPatch, nowMs: number): boolean {
  return expiresAtMs !== null && expiresAtMs <= nowMs;
}

/**
 * The SecLang of a patch: one chain, its end as the last link. `decision` is what the first rule
 * does, with the status where it answers.
 */
export function renderPatch(
  patch: VirtualPatch,
  rule: { readonly ruleId: string; readonly phase: number; readonly message: string },
  decision: string,
): string {
  const head = [
    `id:${rule.ruleId}`,
    `phase:${rule.phase}`,
    decision,
    `msg:'${rule.message}'`,
    "tag:'custom'",
    `tag:'${virtualPatchTag}'`,
    `tag:'${patch.id}'`,
    `severity:${patch.severity}`,
  ].join(',');
  const links = patch.conditions.map(({ text, transformations }) => ({ text, transformations }));
  if (patch.expiresAtMs !== null) {
    const seconds = Math.floor(patch.expiresAtMs / 1000);
    links.push({ text: `SecRule TIME_EPOCH "@lt ${seconds}"`, transformations: 't:none' });
  }
  return links
    .map(({ text, transformations }, index) => {
      const actions = [
        index === 0 ? head : '',
        transformations,
        index < links.length - 1 ? 'chain' : '',
      ];
      const indent = index === 0 ? '' : '  ';
      return `${indent}${text} "${actions.filter((one) => one !== '').join(',')}"`;
    })
    .join('\n');
}

function readEnd(from: PatchObject, at: string): number | null {
  const text = textOf(from, 'expires', at, '');
  if (text === '') return null;
  const time = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(time)) {
    throw invalidField(`${at}.expires`, 'must be a date or time such as 2027-06-30T00:00:00Z');
  }
  return time;
}

function readReferences(value: unknown, at: string): string[] {
  return listOf(value ?? [], at, bounds.references).map((one, index) => {
    if (typeof one === 'string' && one.length <= bounds.text && /^https?:\/\/\S+$/.test(one)) {
      return one;
    }
    throw invalidField(`${at}[${index}]`, 'must be an address that begins with https://');
  });
}

function readRequests(value: unknown, at: string): PatchRequest[] {
  const found = listOf(value, at, bounds.requests).map((one, index) =>
    readRequest(one, `${at}[${index}]`),
  );
  for (const [expect, what] of [
    ['match', 'an attack that it stops'],
    ['pass', 'a request that it lets through'],
  ] as const) {
    if (!found.some((one) => one.expect === expect)) {
      throw invalidField(at, `must have ${what} (expect: ${expect})`);
    }
  }
  return found;
}

function readRequest(value: unknown, at: string): PatchRequest {
  const from = objectOf(value, at);
  onlyFields(from, requestFields, at);
  const expect = textOf(from, 'expect', at);
  if (expect !== 'match' && expect !== 'pass') {
    throw invalidField(`${at}.expect`, 'must be match or pass');
  }
  const headers = objectOf(from['headers'] ?? {}, `${at}.headers`);
  const short = (header: unknown): boolean =>
    typeof header === 'string' && header.length <= bounds.text;
  if (!Object.values(headers).every(short)) {
    throw invalidField(`${at}.headers`, `must be texts of at most ${bounds.text} bytes`);
  }
  const body = textOf(from, 'body', at, '');
  if (body.length > bounds.body)
    throw invalidField(`${at}.body`, `has at most ${bounds.body} bytes`);
  return {
    method: textOf(from, 'method', at, 'GET'),
    url: textOf(from, 'url', at),
    headers: headers as Record<string, string>,
    body,
    expect,
  };
}

function objectOf(value: unknown, at: string): PatchObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as PatchObject;
  }
  throw invalidField(at, 'must be a mapping');
}

function listOf(value: unknown, at: string, most: number): readonly unknown[] {
  if (!Array.isArray(value)) throw invalidField(at, 'must be a list');
  if (value.length > most) throw invalidField(at, `has at most ${most} entries`);
  return value;
}

function onlyFields(from: PatchObject, known: readonly string[], at: string): void {
  if (Object.keys(from).every((name) => known.includes(name))) return;
  throw invalidField(at, `Unknown field. Allowed: ${known.join(', ')}.`);
}
