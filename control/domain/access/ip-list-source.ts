/**
 * What the source of a subscription may be and when a fetched update is taken, held or refused.
 * Never fetches and never reads a secret.
 */

import type {
  IpListSourceInputJson,
  IpListSourceJson,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import { guardLimits } from '../../../base/guard-limits.ts';
import { invalidField } from '../errors.ts';
import { oneOf } from './ip-list-checks.ts';

/** A source as it is kept; values of its headers lie in a record of their own. */
export interface StoredSource {
  readonly id: string;
  /** With its query, which may be a secret. */
  readonly url: string;
  readonly format: string;
  readonly jsonPaths: readonly string[];
  readonly intervalSeconds: number;
  readonly paused: boolean;
  readonly minEntries: number;
  readonly maxEntries: number;
  readonly maxDeleteRatio: number;
  /** Rises when the source changes. */
  readonly generation: number;
  readonly headerNames: readonly string[];
  /** Validators of the last answer that was taken; '' for none. */
  readonly etag: string;
  readonly lastModified: string;
}

/** A source with the values of its headers. */
export interface SourceWithSecrets {
  readonly source: StoredSource;
  readonly headers: Readonly<Record<string, string>>;
}

/** Formats of sources. */
export const sourceFormats = ['text_v1', 'csv_v1', 'json_v1'];

/** Headers that are the connection's or ours. */
const ownHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'accept-encoding',
  'if-none-match',
  'if-modified-since',
]);

/**
 * Checks a source and lays its headers over those that are stored. `checkPath` throws for a path
 * that is no JSONPath. Errors: invalid_argument under `source`.
 */
export function checkSource(
  input: IpListSourceInputJson,
  stored: SourceWithSecrets | null,
  id: string,
  checkPath: (path: string) => void,
): SourceWithSecrets {
  // Who sends back what was shown means the URL that is stored, with its query.
  const shown = stored !== null && input.url === showSource(stored.source).url;
  const url = shown ? stored.source.url : checkSourceUrl(input.url ?? '', 'source.url');
  const format = oneOf(input.format, sourceFormats, 'source.format');
  const jsonPaths = checkJsonPaths(input.jsonPaths ?? [], format, checkPath);
  const headers = mergeHeaders(input.headers ?? [], stored?.headers ?? {}, stored, url);
  const bounds = checkBounds(input);
  const same =
    stored !== null &&
    stored.source.url === url &&
    stored.source.format === format &&
    stored.source.jsonPaths.join('\n') === jsonPaths.join('\n');
  const source: StoredSource = {
    id,
    url,
    format,
    jsonPaths,
    intervalSeconds: checkInterval(input.interval),
    paused: input.paused ?? false,
    ...bounds,
    generation: (stored?.source.generation ?? 0) + 1,
    headerNames: Object.keys(headers).sort(),
    etag: same ? stored.source.etag : '',
    lastModified: same ? stored.source.lastModified : '',
  };
  return { source, headers };
}

/** A source as it is shown: no query, no values of headers. */
export function showSource(source: StoredSource): IpListSourceJson {
  const url = new URL(source.url);
  if (url.search !== '') url.search = '?redacted';
  return {
    id: source.id,
    url: url.href,
    format: source.format,
    jsonPaths: [...source.jsonPaths],
    interval: `${source.intervalSeconds}s`,
    paused: source.paused,
    minEntries: source.minEntries,
    maxEntries: source.maxEntries,
    maxDeleteRatio: source.maxDeleteRatio,
    generation: String(source.generation),
    headers: source.headerNames.map((name) => ({ name, configured: true })),
  };
}

/** What a fetched update changes. */
export interface UpdateCounts {
  readonly before: number;
  readonly after: number;
  readonly removed: number;
}

/** What is done with an update, and why. */
export interface UpdateDecision {
  readonly action: 'take' | 'hold' | 'refuse';
  readonly resultCode: 'ok' | 'too_few' | 'too_many' | 'delete_ratio';
  readonly reason: string;
}

/** Decides on a fetched update by the bounds of its source. */
export function decideUpdate(source: StoredSource, counts: UpdateCounts): UpdateDecision {
  const { before, after, removed } = counts;
  if (after < source.minEntries) {
    const reason = `the source has ${after} entries, fewer than the ${source.minEntries} it must have`;
    return { action: 'refuse', resultCode: 'too_few', reason };
  }
  if (after > source.maxEntries) {
    const reason = `the source has more than the ${source.maxEntries} entries that it may have`;
    return { action: 'refuse', resultCode: 'too_many', reason };
  }
  if (before > 0 && removed / before > source.maxDeleteRatio) {
    const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;
    const reason =
      `the update removes ${removed} of ${before} entries (${percent(removed / before)}); ` +
      `more than ${percent(source.maxDeleteRatio)} waits for approval`;
    return { action: 'hold', resultCode: 'delete_ratio', reason };
  }
  return { action: 'take', resultCode: 'ok', reason: '' };
}

/** An http(s) URL without user and fragment. Errors: invalid_argument at `at`. */
export function checkSourceUrl(text: string, at: string): string {
  if (text === '') throw invalidField(at, 'is required');
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw invalidField(at, 'must be a URL such as https://feeds.example/list.txt');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw invalidField(at, 'must begin with https:// or http://');
  }
  if (url.username !== '' || url.password !== '') {
    throw invalidField(at, 'must not hold a user or password; send them in a header');
  }
  if (text.length > accessLimits.urlCharsMax) {
    throw invalidField(at, `has at most ${accessLimits.urlCharsMax} characters`);
  }
  url.hash = '';
  return url.href;
}

function checkJsonPaths(
  paths: readonly string[],
  format: string,
  checkPath: (path: string) => void,
): readonly string[] {
  if (format !== 'json_v1') {
    if (paths.length === 0) return [];
    throw invalidField('source.jsonPaths', 'goes with format json_v1 only');
  }
  if (paths.length < 1 || paths.length > accessLimits.jsonPathsMax) {
    throw invalidField('source.jsonPaths', `needs 1 to ${accessLimits.jsonPathsMax} paths`);
  }
  paths.forEach((path, at) => {
    const field = `source.jsonPaths[${at}]`;
    if (path.length > accessLimits.jsonPathCharsMax) {
      throw invalidField(field, `has at most ${accessLimits.jsonPathCharsMax} characters`);
    }
    try {
      checkPath(path);
    } catch {
      throw invalidField(field, 'must be a JSONPath (RFC 9535) such as $.prefixes[*].ip_prefix');
    }
  });
  return paths;
}

function checkInterval(interval: string | undefined): number {
  const seconds = interval === undefined ? 0 : Number.parseFloat(interval);
  if (seconds === 0) return accessLimits.syncIntervalSeconds;
  const { syncIntervalSecondsMin: min, syncIntervalSecondsMax: max } = accessLimits;
  if (seconds >= min && seconds <= max) return Math.round(seconds);
  throw invalidField('source.interval', `must be between ${min}s and ${max}s`);
}

function checkBounds(input: IpListSourceInputJson) {
  const minEntries = input.minEntries || 1;
  const maxEntries = input.maxEntries || guardLimits.listEntriesMax;
  const ratio = Number(input.maxDeleteRatio ?? 0);
  if (minEntries < 0) throw invalidField('source.minEntries', 'must be 0 or more');
  if (maxEntries < minEntries || maxEntries > guardLimits.listEntriesMax) {
    throw invalidField(
      'source.maxEntries',
      `must be between minEntries and ${guardLimits.listEntriesMax}; 0 means the latter`,
    );
  }
  if (!(ratio >= 0 && ratio <= 1)) {
    throw invalidField('source.maxDeleteRatio', 'must be between 0 and 1; 0 acts as 0.5');
  }
  return { minEntries, maxEntries, maxDeleteRatio: ratio === 0 ? 0.5 : ratio };
}

function mergeHeaders(
  changes: NonNullable<IpListSourceInputJson['headers']>,
  stored: Readonly<Record<string, string>>,
  before: SourceWithSecrets | null,
  url: string,
): Record<string, string> {
  if (changes.length > accessLimits.sourceHeadersMax) {
    throw invalidField('source.headers', `has at most ${accessLimits.sourceHeadersMax} entries`);
  }
  const moved = before !== null && new URL(before.source.url).origin !== new URL(url).origin;
  const result: Record<string, string> = {};
  const seen = new Set<string>();
  changes.forEach((change, at) => {
    const field = `source.headers[${at}]`;
    const name = (change.name ?? '').toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/.test(name) || ownHeaders.has(name)) {
      throw invalidField(`${field}.name`, 'must be a request header that the fetch does not set');
    }
    if (seen.has(name)) throw invalidField(`${field}.name`, 'is there twice');
    seen.add(name);
    if (change.delete === true) return;
    if (change.keepExisting === true) {
      const kept = stored[name];
      if (kept === undefined) throw invalidField(`${field}.keepExisting`, 'no value is stored');
      // A secret belongs to the server that it was given for.
      if (moved) {
        throw invalidField(`${field}.keepExisting`, 'state the value anew for another server');
      }
      result[name] = kept;
      return;
    }
    const value = change.replaceSecret ?? '';
    if (value === '' || value.length > 4096 || !/^[\t\x20-\x7e]+$/.test(value)) {
      throw invalidField(`${field}.replaceSecret`, 'must be 1 to 4096 printable characters');
    }
    result[name] = value;
  });
  if (!moved) {
    for (const [name, value] of Object.entries(stored)) {
      if (!seen.has(name)) result[name] = value;
    }
  }
  return result;
}
