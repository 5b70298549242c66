/** Values of OTLP in its JSON form. Source: opentelemetry-proto 1.x, common.proto. Pure. */

/** A value of any kind. */
export type OtlpValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly OtlpValue[] } }
  | { readonly kvlistValue: { readonly values: readonly OtlpAttribute[] } };

/** A log record or a span in JSON form. */
export type OtlpRecord = Readonly<Record<string, unknown>>;

/** A value with its name. */
export interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

/** A value of JSON; null is the empty text. */
export function otlpValue(value: unknown): OtlpValue {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(otlpValue) } };
  if (typeof value !== 'object' || value === null) return { stringValue: '' };
  return { kvlistValue: { values: otlpAttributes(value as Record<string, unknown>) } };
}

/** The properties of an object; those that are undefined are left out. */
export function otlpAttributes(fields: Readonly<Record<string, unknown>>): OtlpAttribute[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key, value: otlpValue(value) }));
}

/** Nanoseconds since the epoch, as JSON has whole numbers of 64 bits. */
export function otlpTime(atMs: number): string {
  return `${BigInt(Math.round(atMs)) * 1_000_000n}`;
}

/** Nanoseconds since the epoch, of microseconds. */
export function otlpMicroseconds(atUs: bigint): string {
  return `${atUs * 1_000n}`;
}
