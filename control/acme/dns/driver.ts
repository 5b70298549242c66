/** What a driver of a DNS provider does, and what it is given; no behavior but finding zones. */

import { AppError } from '../../../base/errors.ts';
import type { CallSettings } from '../outgoing-call.ts';

/** An account at a DNS provider with its secrets. */
export interface DnsAccount {
  /** Zones that the operator named; may be none. */
  readonly zones: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
  readonly credentials: Readonly<Record<string, string>>;
  readonly call: CallSettings;
  readonly nowMs: () => number;
}

/** Sets TXT records. Errors: AppError dns_provider, acme_unreachable. */
export interface DnsDriver {
  /** Adds a record; resolves to what removes it. */
  add(name: string, value: string): Promise<() => Promise<void>>;
}

/** Makes a driver of an account. Errors: AppError dns_provider for what is missing. */
export type MakeDriver = (account: DnsAccount) => DnsDriver;

/** A secret or setting that has to be there. Errors: AppError dns_provider naming it. */
export function required(from: Readonly<Record<string, string>>, names: readonly string[]): string {
  for (const name of names) {
    const value = from[name];
    if (value !== undefined && value !== '') return value;
  }
  throw dnsError(`the account lacks ${names[0] ?? ''}: waf cert dns-update sets it`);
}

/** The longest zone of the account that holds a name; null when it names none that does. */
export function namedZone({ zones }: DnsAccount, name: string): string | null {
  const held = zones.filter((zone) => name === zone || name.endsWith(`.${zone}`));
  return held.sort((left, right) => right.length - left.length)[0] ?? null;
}

/** A name and the names above it, the longest first, down to two labels. */
export function namesAbove(name: string): string[] {
  const labels = name.split('.');
  return labels.slice(0, -1).map((_label, at) => labels.slice(at).join('.'));
}

/** What went wrong, in words that may be shown. */
export function dnsError(message: string): AppError {
  return new AppError('dns_provider', message, { source: 'upstream', retryable: true });
}

/** The words of a provider, cleaned and cut. */
export function saidBy(provider: string, status: number, text: string): AppError {
  const clean = text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200);
  return dnsError(`${provider} answered with status ${status}: ${clean}`);
}
