/**
 * Which family a request body belongs to by its media type: the one reading that the checks of API
 * documents and the body processors of the rules agree on. Pure; never looks at a body.
 */

/** Families of request bodies. */
export const bodyFamilies = ['json', 'xml', 'form', 'multipart', 'text', 'binary'] as const;
/** One of them. */
export type BodyFamily = (typeof bodyFamilies)[number];

/** What the rules read a body as; `none`: without a body processor. */
export type ProcessorReading = 'json' | 'xml' | 'form' | 'multipart' | 'none';

/** What the rules of a policy read a media type as; `none` leaves forms as they are. */
export interface PolicyReading {
  /** Lower case, without parameters. */
  readonly type: string;
  readonly reads: Exclude<ProcessorReading, 'multipart'>;
}

/** What a media type (lower case, without parameters) is to the checks of API documents. */
export function mediaFamily(type: string): BodyFamily {
  // RFC 6839 for `+json`.
  if (/^(?:application|text)\/json$|^[^/]+\/[^/]+\+json$/.test(type)) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type === 'multipart/form-data') return 'multipart';
  if (/^(?:application|text)\/xml$|\+xml$/.test(type)) return 'xml';
  return type.startsWith('text/') ? 'text' : 'binary';
}

/** What the rules read a media type as: a prefix is enough, unless the policy names the type. */
export function processorReading(
  type: string,
  readings: readonly PolicyReading[],
): ProcessorReading {
  const form = type.startsWith('application/x-www-form-urlencoded') ? 'form' : 'none';
  const head = type.startsWith('multipart/form-data') ? 'multipart' : form;
  const own = readings.find((one) => one.type === type);
  if (own !== undefined) return own.reads === 'none' ? head : own.reads;
  if (/^(?:application(?:\/soap\+|\/)|text\/)xml/.test(type)) return 'xml';
  if (/^application\/(?:json|[a-z0-9.-]+\+json)/.test(type)) return 'json';
  return head;
}

/**
 * The family of a media type; null where the rules would read it as another one than the checks do:
 * such a body has no one reading.
 */
export function bodyFamilyOf(type: string, readings: readonly PolicyReading[]): BodyFamily | null {
  const family = mediaFamily(type);
  const read = processorReading(type, readings);
  const parsed = family !== 'text' && family !== 'binary';
  return (parsed ? read === family : read === 'none') ? family : null;
}
