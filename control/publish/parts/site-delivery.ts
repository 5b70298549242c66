/** How the delivery of a site travels: as JSON, with nothing left out but what is not set. Pure. */

import { createHash } from 'node:crypto';
import { compressionLimits } from '../../../base/delivery-limits.ts';
import { forwardAuthLimits } from '../../../base/guard-limits.ts';
import type { SiteDeliveryJson } from '../../../proto/gen/waf/v1/delivery_pb.ts';

/** UTF-8 of the engine's own form; empty where nothing is set. */
export function toRuntimeDelivery(delivery: SiteDeliveryJson | undefined): Uint8Array {
  if (delivery === undefined) return new Uint8Array();
  const { maintenance } = delivery;
  const runtime = {
    ...(maintenance?.enabled === true && {
      maintenance: {
        retryAfterSeconds: maintenance.retryAfterSeconds ?? 0,
        title: maintenance.title ?? '',
        message: maintenance.message ?? '',
        allowedNetworks: maintenance.allowedNetworks ?? [],
        allowedPaths: maintenance.allowedPaths ?? [],
      },
    }),
    ...listOf('redirects', delivery.redirects, ({ host, path = '', target, status }) => ({
      ...{ host: host ?? '', target: target ?? '', status: status || 308 },
      ...{ path: path.replace(/\/\*$/, ''), under: path.endsWith('/*') },
    })),
    ...listOf('basicAuth', delivery.basicAuth, ({ pathPrefix, realm, users = [], open }) => ({
      ...{ pathPrefix: pathPrefix ?? '', realm: realm ?? '', open: open ?? false },
      users: users.map(({ name, passwordHash }) => ({ name, passwordHash })),
    })),
    ...listOf('forwardAuth', delivery.forwardAuth, (rule) => ({
      pathPrefix: rule.pathPrefix ?? '',
      url: rule.url ?? '',
      copiedFields: (rule.copiedFields ?? []).map((name) => name.toLowerCase()),
      timeoutMs: rule.timeoutMs || forwardAuthLimits.askMs,
      allowedNetworks: rule.allowedNetworks ?? [],
      open: rule.open ?? false,
    })),
    ...certificatesOf(delivery),
    ...listOf('bodyLimits', delivery.bodyLimits, ({ pathPrefix, maxBytes }) => ({
      ...{ pathPrefix: pathPrefix ?? '', maxBytes: Number(maxBytes ?? 0) },
    })),
    ...listOf('cors', delivery.cors, (rule) => ({
      pathPrefix: rule.pathPrefix ?? '',
      allowedOrigins: (rule.allowedOrigins ?? []).map((one) => one.toLowerCase()),
      allowedMethods: rule.allowedMethods ?? [],
      allowedHeaders: rule.allowedHeaders ?? [],
      exposedHeaders: rule.exposedHeaders ?? [],
      allowCredentials: rule.allowCredentials ?? false,
      maxAgeSeconds: rule.maxAgeSeconds ?? 0,
    })),
    ...listOf('compression', delivery.compression, ({ pathPrefix, types = [], minBytes, off }) => ({
      ...{ pathPrefix: pathPrefix ?? '', off: off ?? false },
      types: types.length === 0 ? compressionLimits.types : types.map((one) => one.toLowerCase()),
      minBytes: minBytes || compressionLimits.minBytes,
    })),
    ...(delivery.stickySessions?.enabled === true && {
      stickySessions: {
        cookieName: delivery.stickySessions.cookieName || 'waf-origin',
        maxAgeSeconds: delivery.stickySessions.maxAgeSeconds ?? 0,
      },
    }),
    ...(delivery.securityTxt ? { securityTxt: delivery.securityTxt } : {}),
    ...listOf('requestFields', delivery.requestFields, changeOf),
    ...listOf('responseFields', delivery.responseFields, changeOf),
  };
  if (Object.keys(runtime).length === 0) return new Uint8Array();
  return Buffer.from(JSON.stringify(runtime), 'utf8');
}

/** True for a site that keeps visitors with one origin address. */
export function sticks({ delivery }: { readonly delivery?: SiteDeliveryJson }): boolean {
  return delivery?.stickySessions?.enabled === true;
}

function certificatesOf({ clientCertificates }: SiteDeliveryJson): object {
  const { caPem = '', crlPem = '', optional = false } = clientCertificates ?? {};
  if (caPem === '') return {};
  const fingerprint = createHash('sha256').update(`${caPem}\0${crlPem}`).digest('hex');
  return { clientCertificates: { caPem, crlPem, fingerprint, optional } };
}

function changeOf(change: {
  readonly name?: string;
  readonly value?: string;
  readonly remove?: boolean;
}) {
  return { name: change.name ?? '', value: change.value ?? '', remove: change.remove ?? false };
}

function listOf<T>(name: string, list: readonly T[] | undefined, read: (one: T) => object): object {
  return list === undefined || list.length === 0 ? {} : { [name]: list.map(read) };
}
