/**
 * Which events a question means: plain data that can travel to another thread, and what is made of
 * it to look for them. What index fields cannot say is compared with each candidate.
 */

import { BlockList, isIP } from 'node:net';
import { probeOf, type Probe } from './digest.ts';
import type { EventKind, EventTerms, StoredEvent } from './event-kind.ts';
import { hashOfTerm } from './term-places.ts';
import { networkTerm, pathTerm } from './event-terms.ts';

/** Values of a field of which an event has at least one. */
export interface AnyOf {
  readonly field: string;
  readonly values: readonly string[];
}

/** All that an event must satisfy. */
export interface EventFilter {
  readonly tenantId: string;
  /** Half-open span of time, in milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  readonly anyOf: readonly AnyOf[];
  /** Addresses and networks of the client; any when empty. */
  readonly networks: readonly string[];
  /** How the path begins; '' for any. */
  readonly pathPrefix: string;
  /** Texts that properties of the event contain, without regard to case. */
  readonly contains: readonly { readonly property: string; readonly text: string }[];
}

/** What the index is searched for; an event that fits is found by all of them. */
export interface Clause {
  readonly field: string;
  readonly values: ReadonlySet<string>;
  readonly hashes: readonly number[];
  readonly probes: readonly Probe[];
}

/** A filter made ready. */
export interface PreparedFilter<E> {
  readonly tenantId: string;
  readonly clauses: readonly Clause[];
  readonly matches: (event: E) => boolean;
}

/** Makes a filter ready for events of a kind. */
export function prepareFilter<E extends StoredEvent>(
  kind: EventKind<E>,
  filter: EventFilter,
): PreparedFilter<E> {
  const { anyOf, networks, pathPrefix, contains, tenantId } = filter;
  const clauses = anyOf.map(({ field, values }) => clauseOf(field, values));
  clauses.push(...networkClauses(networks));
  const above = pathTerm(pathPrefix);
  if (above !== '') clauses.push(clauseOf('dir', [above]));
  clauses.sort((one, other) => rankOf(one.field) - rankOf(other.field));
  const inNetworks = addressCheck(networks);
  const wanted = anyOf.map(({ field, values }) => ({ field, values: new Set(values) }));
  const texts = contains.map(({ property, text }) => ({ property, text: text.toLowerCase() }));
  const matches = (event: E): boolean => {
    if (event.tenantId !== tenantId) return false;
    if (inNetworks !== null && !inNetworks(event.clientIp ?? '')) return false;
    const fields = event as unknown as Readonly<Record<string, unknown>>;
    if (pathPrefix !== '' && !textOf(fields['path']).startsWith(pathPrefix)) return false;
    const told = texts.every((one) =>
      textOf(fields[one.property]).toLowerCase().includes(one.text),
    );
    if (!told) return false;
    if (wanted.length === 0) return true;
    const terms = kind.termsOf(event);
    return wanted.every(({ field, values }) => (terms[field] ?? []).some((one) => values.has(one)));
  };
  return { tenantId, clauses, matches };
}

/** Fields with the most values first: a segment that lacks a value is not searched further. */
const searchedFirst = ['request', 'client', 'net', 'target', 'path', 'dir', 'rule', 'site'];
/** Fields of few values, most of which are in every segment. */
const searchedLast = ['method', 'attack', 'severity', 'outcome', 'level'];

function rankOf(field: string): number {
  const rank = searchedFirst.indexOf(field);
  if (rank >= 0) return rank;
  return searchedFirst.length + 1 + searchedLast.indexOf(field);
}

/** Single IPv4 addresses have one spelling, and the column of clients is the smaller one. */
function networkClauses(networks: readonly string[]): Clause[] {
  if (networks.length === 0) return [];
  const singles = networks.map((network) => network.replace(/\/32$/, ''));
  if (singles.every((one) => isIP(one) === 4)) return [clauseOf('client', singles)];
  const within = networks.map(networkTerm);
  return within.includes('') ? [] : [clauseOf('net', within)];
}

/**
 * Says of an address whether it is in one of the networks; null when there are none. An address of
 * one family is in no network of the other, however it is written: so the index says, too.
 */
export function addressCheck(networks: readonly string[]): ((address: string) => boolean) | null {
  if (networks.length === 0) return null;
  const [ipv4, ipv6] = [new BlockList(), new BlockList()];
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    if (isIP(address) === 6) ipv6.addSubnet(address, Number(bits ?? 128), 'ipv6');
    else ipv4.addSubnet(address, Number(bits ?? 32), 'ipv4');
  }
  return (address) => {
    const version = isIP(address);
    if (version === 0) return false;
    return version === 4 ? ipv4.check(address, 'ipv4') : ipv6.check(address, 'ipv6');
  };
}

function clauseOf(field: string, values: readonly string[]): Clause {
  const hashes = values.map(hashOfTerm);
  const probes = hashes.map((hash) => probeOf(field, hash));
  return { field, values: new Set(values), hashes, probes };
}

/** True when an event with these index values may fit. */
export function mayFit(clauses: readonly Clause[], terms: EventTerms): boolean {
  return clauses.every(({ field, values }) => {
    return (terms[field] ?? []).some((one) => values.has(one));
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
