/**
 * Which origin of a site a path belongs to: the longest prefix of whole segments, compared without
 * case with the path as it was sent.
 */

import {
  certificateFields,
  type DeliveryConfig,
  type FieldChangeConfig,
} from '../contract/delivery.ts';
import type { SiteConfig, UpstreamConfig } from '../contract/site.ts';
import { isPlainPath, READER, readPath } from '../../base/path-readings.ts';
import { REFUSAL, type Refusal } from '../http/refusal.ts';
import { changedFields, type OriginFields } from '../upstream/origin-fields.ts';
import type { Upstream, UpstreamRegistry } from '../upstream/upstream.ts';

/** Where a request of a site goes. */
export interface OriginChoice {
  readonly upstream: Upstream;
  readonly upstreamId: string;
  /** '' where no route was taken. */
  readonly routeId: string;
  /** Bytes taken off the front of the path. */
  readonly skip: number;
  /** Fields that the upstream and the site set; null for none. */
  readonly fields: OriginFields | null;
}

interface Prefix {
  /** Lower case; '' for all paths. */
  readonly bytes: Uint8Array;
  readonly choice: OriginChoice;
}

/** The origins of one site. */
export class PathRoutes {
  private readonly prefixes: readonly Prefix[];
  private readonly rest: OriginChoice | null;

  /** Holds every upstream of the site; `releaseUpstreams` gives them back. */
  constructor(site: SiteConfig, upstreams: UpstreamRegistry) {
    const changes = [...(site.delivery?.requestFields ?? []), ...ownFields(site.delivery)];
    const use = (config: UpstreamConfig) => {
      const upstream = upstreams.hold(config);
      const fields = changedFields(upstream.fields, changes);
      return { upstream, upstreamId: config.id, fields };
    };
    this.prefixes = (site.routes ?? []).map(({ id = '', pathPrefix, upstream, stripPrefix }) => {
      const bytes = Buffer.from(pathPrefix === '/' ? '' : pathPrefix, 'latin1');
      const skip = stripPrefix ? bytes.length : 0;
      return { bytes, choice: { ...use(upstream), routeId: id, skip } };
    });
    const all = { ...use(site.upstream), routeId: '', skip: 0 };
    this.rest = site.unmatchedNotFound === true ? null : all;
  }

  /**
   * The origin for the path in [start, end), query included; null when none is meant. Errors: a
   * path that means one origin as it is sent and another as origins may understand it is refused:
   * `/open/../hidden` is not for the origin of `/open`. So is one of more readings than are known.
   */
  choose(bytes: Buffer, start: number, end: number): OriginChoice | Refusal | null {
    const choice = this.match(bytes, start, end);
    const target = bytes.latin1Slice(start, end);
    const mark = target.search(/[?#]/);
    const path = mark < 0 ? target : target.slice(0, mark);
    if (isPlainPath(path)) return choice;
    const { list, complete } = readPath(path);
    if (!complete) return REFUSAL.pathAmbiguous;
    if (this.prefixes.length === 0) return choice;
    for (const { text, reader } of list) {
      if (reader !== READER.USUAL) break;
      const read = Buffer.from(text, 'latin1');
      if (this.match(read, 0, read.length) !== choice) return REFUSAL.pathAmbiguous;
    }
    return choice;
  }

  private match(bytes: Uint8Array, start: number, end: number): OriginChoice | null {
    for (const { bytes: prefix, choice } of this.prefixes) {
      if (startsWith(bytes, start, end, prefix)) return choice;
    }
    return this.rest;
  }
}

/** Gives back what the constructor held. */
export function releaseUpstreams(site: SiteConfig, upstreams: UpstreamRegistry): void {
  for (const { upstream } of site.routes ?? []) upstreams.release(upstream);
  upstreams.release(site.upstream);
}

/** Fields that only the product says: those of clients are taken away. */
function ownFields(delivery: DeliveryConfig | undefined): FieldChangeConfig[] {
  const { forwardAuth = [], clientCertificates } = delivery ?? {};
  const names = new Set(forwardAuth.flatMap(({ copiedFields }) => copiedFields));
  for (const name of clientCertificates === undefined ? [] : certificateFields) names.add(name);
  return [...names].map((name) => ({ name, value: '', remove: true }));
}

function startsWith(bytes: Uint8Array, start: number, end: number, prefix: Uint8Array): boolean {
  const stop = start + prefix.length;
  if (stop > end) return false;
  for (let i = 0; i < prefix.length; i++) {
    const byte = bytes[start + i]!;
    const lower = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
    if (lower !== prefix[i]) return false;
  }
  if (stop === end) return true;
  const next = bytes[stop];
  return next === 0x2f || next === 0x3f || next === 0x23;
}
