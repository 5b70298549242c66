/** Which certificate a site presents, and its TLS settings as they travel. */

import { expect, test } from 'vitest';
import { certificateChooser, travelingTls, type CertificateFacts } from './site-certificate.ts';

const tenantId = 't';
const certificate = (id: string, dnsNames: string[], change: object = {}): CertificateFacts => ({
  id,
  tenantId,
  dnsNames,
  managed: true,
  notAfter: '2030-01-01T00:00:00Z',
  ...change,
});
const site = (hosts: readonly string[], tls: object) => ({
  tenantId,
  primaryHost: hosts[0] ?? '',
  aliases: hosts.slice(1),
  tls,
});
const managed = { mode: 'TLS_MODE_MANAGED_ACME' };

test('a site presents the certificate that it names, or the managed one that covers it', () => {
  const choose = certificateChooser([
    certificate('one', ['a.test', 'b.test']),
    certificate('later', ['a.test', 'b.test'], { notAfter: '2031-01-01T00:00:00Z' }),
    certificate('wild', ['*.shop.test']),
    certificate('uploaded', ['up.test'], { managed: false }),
    certificate('stranger', ['s.test'], { tenantId: 'other' }),
  ]);
  const of = (hosts: string[], tls: object): string | undefined => choose(site(hosts, tls))?.id;
  expect(of(['a.test'], managed)).toBe('later');
  expect(of(['b.test', 'a.test'], managed)).toBe('later');
  expect(of(['a.test'], { ...managed, certId: 'one' })).toBe('one');
  expect(of(['a.test', 'c.test'], managed)).toBeUndefined();
  expect(of(['x.shop.test'], managed)).toBe('wild');
  expect(of(['*.shop.test'], managed)).toBe('wild');
  expect(of(['shop.test'], managed)).toBeUndefined();
  expect(of(['y.x.shop.test'], managed)).toBeUndefined();
  // Of the managed ones only, and of its own tenant only.
  expect(of(['up.test'], managed)).toBeUndefined();
  expect(of(['s.test'], managed)).toBeUndefined();
  expect(of(['up.test'], { mode: 'TLS_MODE_UPLOADED', certId: 'uploaded' })).toBe('uploaded');
  expect(of(['up.test'], { mode: 'TLS_MODE_UPLOADED', certId: 'gone' })).toBeUndefined();
  expect(of(['a.test'], { mode: 'TLS_MODE_NONE' })).toBeUndefined();
});

test('settings travel in the words of the bundle', () => {
  expect(travelingTls({ tls: {} }, '')).toEqual({
    certificateId: '',
    minMinorVersion: 2,
    httpBehavior: 'both',
    strictTransportSecurity: '',
  });
  const tls = {
    minVersion: 'TLS_VERSION_1_3',
    httpBehavior: 'TLS_HTTP_BEHAVIOR_REDIRECT_TO_HTTPS',
    hstsMaxAgeSeconds: 60,
    hstsIncludeSubdomains: true,
  } as const;
  expect(travelingTls({ tls }, 'c')).toEqual({
    certificateId: 'c',
    minMinorVersion: 3,
    httpBehavior: 'redirect',
    strictTransportSecurity: 'max-age=60; includeSubDomains',
  });
  const acmeOnly = { tls: { httpBehavior: 'TLS_HTTP_BEHAVIOR_ACME_ONLY' } } as const;
  expect(travelingTls(acmeOnly, '').httpBehavior).toBe('acme_only');
});
