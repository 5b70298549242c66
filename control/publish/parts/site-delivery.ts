/** How the delivery of a site travels: as JSON, with nothing left out but what is not set. Pure. */

import { createHash } from 'node:crypto';
import { fromJson, toJson, type JsonObject } from '@bufbuild/protobuf';
import { compressionLimits } from '../../../base/delivery-limits.ts';
import { forwardAuthLimits } from '../../../base/guard-limits.ts';
import {
  SiteDeliverySchema,
  type SiteDeliveryJson,
} from '../../../proto/gen/waf/v1/delivery_pb.ts';

/** UTF-8 of the engine's own form, fields by their names; empty where nothing is set. */
export function toRuntimeDelivery(delivery: SiteDeliveryJson | undefined): Uint8Array {
  if (delivery === undefined) return new Uint8Array();
  const full = withAllFields(delivery);
  const { maintenance, stickySessions } = full;
  const runtime = {
    ...full,
    maintenance: maintenance?.enabled === true ? maintenance : undefined,
    redirects: full.redirects.map(({ path, status, ...rest }) => ({
      ...{ ...rest, status: status || 308, ...placeOf(path) },
    })),
    rewrites: full.rewrites.map(({ path, target }) => ({ target, ...placeOf(path) })),
    forwardAuth: full.forwardAuth.map(({ copiedFields, timeoutMs, ...rest }) => ({
      ...{ ...rest, copiedFields: lowerCase(copiedFields) },
      timeoutMs: timeoutMs || forwardAuthLimits.askMs,
    })),
    clientCertificates: certificatesOf(full),
    bodyLimits: full.bodyLimits.map((rule) => ({ ...rule, maxBytes: Number(rule.maxBytes) })),
    cors: full.cors.map((rule) => ({ ...rule, allowedOrigins: lowerCase(rule.allowedOrigins) })),
    compression: full.compression.map(({ types, minBytes, ...rest }) => ({
      ...{ ...rest, minBytes: minBytes || compressionLimits.minBytes },
      types: types.length === 0 ? compressionLimits.types : lowerCase(types),
    })),
    stickySessions:
      stickySessions?.enabled === true
        ? { ...stickySessions, cookieName: stickySessions.cookieName || 'waf-origin' }
        : undefined,
  };
  const isSet = (value: unknown): boolean =>
    value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);
  const set = Object.entries(runtime).filter(([, value]) => isSet(value));
  if (set.length === 0) return new Uint8Array();
  return Buffer.from(JSON.stringify(Object.fromEntries(set)), 'utf8');
}

function placeOf(path: string): { readonly path: string; readonly under: boolean } {
  return { path: path.replace(/\/\*$/, ''), under: path.endsWith('/*') };
}

/** True for a site that keeps visitors with one origin address. */
export function sticks({ delivery }: { readonly delivery?: SiteDeliveryJson }): boolean {
  return delivery?.stickySessions?.enabled === true;
}

function certificatesOf({ clientCertificates }: FullDelivery): object | undefined {
  if (clientCertificates === undefined || clientCertificates.caPem === '') return undefined;
  const { caPem, crlPem } = clientCertificates;
  const fingerprint = createHash('sha256').update(`${caPem}\0${crlPem}`).digest('hex');
  return { ...clientCertificates, fingerprint };
}

function lowerCase(texts: readonly string[]): string[] {
  return texts.map((one) => one.toLowerCase());
}

/** A list, and what lies in it, with every field. */
type Full<T> = T extends readonly (infer One)[] ? Full<One>[] : T extends object ? Required<T> : T;

/** Lists and texts are there, empty where nothing is set; messages are absent then. */
type FullDelivery = {
  readonly [K in Exclude<keyof SiteDeliveryJson, MessageField>]-?: Full<
    NonNullable<SiteDeliveryJson[K]>
  >;
} & { readonly [K in MessageField]?: Required<NonNullable<SiteDeliveryJson[K]>> };
type MessageField = 'maintenance' | 'clientCertificates' | 'stickySessions';

function withAllFields(delivery: SiteDeliveryJson): FullDelivery {
  const message = fromJson(SiteDeliverySchema, delivery as JsonObject, {
    ignoreUnknownFields: true,
  });
  return toJson(SiteDeliverySchema, message, { alwaysEmitImplicit: true }) as FullDelivery;
}
