/** Facts of nodes as the forms of events take them. Pure. */

import { fromBinary } from '@bufbuild/protobuf';
import {
  AccessFactSchema,
  ErrorFactSchema,
  SecurityFactSchema,
  type AccessFact,
  type ErrorFact,
  type SecurityFact,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { SiemEvent } from '../domain/settings/siem-settings.ts';

/** A fact, and the node that it comes from. */
export type ExportedFact = {
  readonly agentId: string;
  readonly tenantId: string;
} & (
  | { readonly event: 'security'; readonly fact: SecurityFact }
  | { readonly event: 'access'; readonly fact: AccessFact }
  | { readonly event: 'error'; readonly fact: ErrorFact }
);

/** Reads a fact; null where it is damaged. */
export function readFact(
  event: SiemEvent,
  bytes: Uint8Array,
  { agentId, tenantId }: { readonly agentId: string; readonly tenantId: string },
): ExportedFact | null {
  const head = { agentId, tenantId };
  try {
    if (event === 'security')
      return { ...head, event, fact: fromBinary(SecurityFactSchema, bytes) };
    if (event === 'access') return { ...head, event, fact: fromBinary(AccessFactSchema, bytes) };
    return { ...head, event, fact: fromBinary(ErrorFactSchema, bytes) };
  } catch {
    // One damaged fact holds up no other; the store counts it when it seals the batch.
    return null;
  }
}

/** The span that a request was, in hexadecimal digits; null where none is sent. */
export function spanOf({
  event,
  fact,
}: ExportedFact): { readonly traceId: string; readonly spanId: string } | null {
  const { traceId, spanId } = (event === 'access' ? fact.trace : fact) ?? {};
  if (traceId === undefined || spanId === undefined || traceId.length === 0) return null;
  return { traceId: hexOf(traceId), spanId: hexOf(spanId) };
}

/** Bytes in hexadecimal digits, lower case. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

const decoder = new TextDecoder();

/** Bytes of a client as text; what is no UTF-8 becomes U+FFFD. */
export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** The path and the query of a target. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?');
  if (mark < 0) return { path: target, query: '' };
  return { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

/** The number in `HTTP/1.1`; 0 where there is none. */
export function versionNumber(httpVersion: string): number {
  return Number(/\d+(?:\.\d+)?$/.exec(httpVersion)?.[0] ?? 0);
}

/** Without fields that say nothing: absent ones, empty texts and lists. Zero and false stay. */
export function filledFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => {
      if (value === undefined || value === '') return false;
      if (Array.isArray(value)) return value.length > 0;
      if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
      return true;
    }),
  );
}
