/** The setting that names SIEM targets: which events go where, in which form. Pure. */

import { siemLimits } from '../../limits/siem-limits.ts';
import { invalidField } from '../errors.ts';
import {
  boolean,
  checkFields,
  filled,
  hostName,
  oneOf,
  pattern,
  text,
  whole,
  type Fields,
} from '../setting-fields.ts';

/** Key of the targets. */
export const siemTargetsKey = 'siem.targets';
/** The field of a target that is never shown. */
export const siemSecretField = 'clientKeyPem';

/** Kinds of events that targets take. */
export const siemEvents = ['security', 'access', 'error'] as const;
/** One of them. */
export type SiemEvent = (typeof siemEvents)[number];

const transports = ['udp', 'tcp', 'tls'] as const;
const formats = ['access', 'audit', 'ecs', 'ocsf'] as const;
const framings = ['octet_counting', 'newline'] as const;

/** One target. */
export interface SiemTarget {
  readonly id: string;
  readonly enabled: boolean;
  readonly transport: (typeof transports)[number];
  readonly host: string;
  readonly port: number;
  /**
   * `access`: a web server's access log as JSON. `audit`: the JSON audit log of ModSecurity.
   * `ecs`, `ocsf`: events of the service in the Elastic Common Schema or the Open Cybersecurity
   * Schema Framework.
   */
  readonly format: (typeof formats)[number];
  /** Without a choice: what the form is for. */
  readonly events: readonly SiemEvent[];
  /** With headers and bodies, as far as the log policy keeps them, unredacted. */
  readonly evidence: boolean;
  /** What ends a message on a stream (RFC 6587). */
  readonly framing: (typeof framings)[number];
  /** Syslog facility, 0 to 23. */
  readonly facility: number;
  /** Bytes of messages that may wait. */
  readonly queueBytes: number;
  /** Authorities that the target's certificate may come from; '' for those of the system. */
  readonly caPem: string;
  /** Name in the target's certificate; '' for the host. */
  readonly serverName: string;
  readonly clientCertPem: string;
  readonly clientKeyPem: string;
}

const { pemCharactersMax, queueBytesMin, queueBytesMax, queueBytesStandard } = siemLimits;
const identifier = /^[a-z0-9][a-z0-9-]{0,31}$/;
const fields: Fields = {
  id: ['', pattern(identifier, 'must be 1 to 32 lower-case letters, digits or hyphens')],
  enabled: [true, boolean],
  transport: ['', oneOf(...transports)],
  host: ['', hostName],
  port: [0, whole(1, 65_535)],
  format: ['', oneOf(...formats)],
  events: [[], eventList],
  evidence: [false, boolean],
  framing: ['octet_counting', oneOf(...framings)],
  facility: [16, whole(0, 23)],
  queueBytes: [queueBytesStandard, whole(queueBytesMin, queueBytesMax)],
  caPem: ['', text(0, pemCharactersMax)],
  serverName: ['', pattern(/^[A-Za-z0-9.-]{0,253}$/, 'must be a host name')],
  clientCertPem: ['', text(0, pemCharactersMax)],
  clientKeyPem: ['', text(0, pemCharactersMax)],
};

/** Targets that are on, with what was left out filled in. */
export function siemTargetsOf(values: Readonly<Record<string, unknown>>): SiemTarget[] {
  const list = values[siemTargetsKey];
  if (!Array.isArray(list)) return [];
  return list
    .map((one) => filled(one, fields) as unknown as SiemTarget)
    .filter(({ enabled }) => enabled)
    .map((target) => ({ ...target, events: eventsOf(target) }));
}

/** True where nodes have to send every request, whatever the log policy keeps. */
export function wantsEveryRequest(values: Readonly<Record<string, unknown>>): boolean {
  return siemTargetsOf(values).some(({ events }) => events.includes('access'));
}

/** True where some target takes the bodies of answers, as far as the log policy keeps bodies. */
export function wantsAnswerBodies(values: Readonly<Record<string, unknown>>): boolean {
  return siemTargetsOf(values).some(({ format, evidence }) => format === 'audit' && evidence);
}

/** Errors: invalid_argument under `at`. */
export function checkSiemTargets(value: unknown, at: string): void {
  if (!Array.isArray(value) || value.length > siemLimits.targetsMax) {
    throw invalidField(at, `must be a list of at most ${siemLimits.targetsMax} targets`);
  }
  const ids = new Set<string>();
  value.forEach((one: unknown, index) => {
    const where = `${at}[${index}]`;
    checkFields(one, fields, where);
    const given = one as Partial<SiemTarget>;
    for (const name of ['id', 'transport', 'host', 'port', 'format'] as const) {
      if (given[name] === undefined) throw invalidField(`${where}.${name}`, 'is required');
    }
    const target = filled(one, fields) as unknown as SiemTarget;
    if (ids.has(target.id)) throw invalidField(`${where}.id`, 'is used twice');
    ids.add(target.id);
    checkTogether(target, where);
  });
}

/** What holds between the fields of a target. */
function checkTogether(target: SiemTarget, at: string): void {
  const own = ownEvents[target.format];
  if (own !== undefined && target.events.some((event) => event !== own)) {
    throw invalidField(`${at}.events`, `the form ${target.format} takes ${own} events only`);
  }
  if (target.evidence && target.format !== 'audit') {
    throw invalidField(`${at}.evidence`, 'is for the form audit only');
  }
  const { clientCertPem, clientKeyPem, transport } = target;
  if ((clientCertPem === '') !== (clientKeyPem === '')) {
    throw invalidField(`${at}.clientKeyPem`, 'goes together with clientCertPem: give both');
  }
  const secure = ['caPem', 'serverName', 'clientCertPem'] as const;
  for (const name of secure) {
    if (transport !== 'tls' && target[name] !== '') {
      throw invalidField(`${at}.${name}`, 'is for the transport tls only');
    }
  }
  for (const name of ['caPem', 'clientCertPem'] as const) {
    if (target[name] !== '' && !target[name].includes('-----BEGIN CERTIFICATE-----')) {
      throw invalidField(`${at}.${name}`, 'must be certificates in PEM');
    }
  }
}

/** Forms that are for one kind of event. */
const ownEvents: Partial<Record<SiemTarget['format'], SiemEvent>> = {
  access: 'access',
  audit: 'security',
};

function eventsOf({ format, events }: SiemTarget): readonly SiemEvent[] {
  if (events.length > 0) return events;
  return [ownEvents[format] ?? 'security'];
}

function eventList(value: unknown, at: string): void {
  if (!Array.isArray(value)) throw invalidField(at, 'must be a list');
  const known = oneOf(...siemEvents);
  value.forEach((one: unknown, index) => known(one, `${at}[${index}]`));
  if (new Set(value).size !== value.length) throw invalidField(at, 'names one event twice');
}
