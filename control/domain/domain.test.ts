/** The proof of pure decisions: hosts, masks, endpoints, canonical JSON, rendered policies. */

import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseSecLang } from '../../engine/rules/language/parse.ts';
import { crc32c } from '../../base/crc32c.ts';
import { canonicalJson } from './canonical-json.ts';
import { changedPaths } from './changed-paths.ts';
import { renderCrsSetup, setupVersion } from './policy/crs-setup.ts';
import { normalizeHost } from './site/hosts.ts';
import { builtInTemplates } from './policy/policy-templates.ts';
import { renderPolicy } from './policy/policy-seclang.ts';
import { checkPolicy } from './policy/policy.ts';
import { parseEndpointUrl } from './site/site.ts';
import { makeTestRequest } from './policy/test-request.ts';
import { applyMask } from './update-mask.ts';

test.each([
  ['Shop.Example.COM.', 'shop.example.com'],
  ['*.example.com', '*.example.com'],
  ['localhost', 'localhost'],
  ['127.0.0.1', '127.0.0.1'],
  ['[::1]', '[::1]'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
])('host %s is kept as %s', (given, kept) => {
  expect(normalizeHost(given, 'h')).toBe(kept);
});

test.each([
  ['', /required/],
  ['http://x', /without a scheme/],
  ['x/y', /without a path/],
  ['x:80', /without a port/],
  ['*', /must be a host name/],
  ['a.*.b', /must be a host name/],
  ['**.x', /must be a host name/],
  ['-x.example', /must be a host name/],
  [`${'a'.repeat(64)}.x`, /must be a host name/],
  [`${'a.'.repeat(127)}abc`, /253/],
])('host %s is refused', (given, why) => {
  expect(() => normalizeHost(given, 'h')).toThrow(why);
});

test('endpoints are addresses and nothing else', () => {
  expect(parseEndpointUrl('https://[::1]', 'u')).toEqual({ tls: true, host: '::1', port: 443 });
  for (const url of ['x', 'ftp://x', 'http://u:p@x', 'http://x/path', 'http://x?q', 'http://']) {
    expect(() => parseEndpointUrl(url, 'u')).toThrow(/^u: /);
  }
});

test('a mask replaces exactly what it names, and clears what the change leaves out', () => {
  const fields = { name: true, waf: { mode: true, enabled: true } } as const;
  const record = { name: 'a', waf: { mode: 'X', enabled: true }, other: 1 };
  const change = { name: 'b', waf: { mode: 'Y' }, other: 2 };
  expect(applyMask(record, change, 'name', fields)).toEqual({ ...record, name: 'b' });
  expect(applyMask(record, change, 'waf.mode', fields).waf).toEqual({ mode: 'Y', enabled: true });
  expect(applyMask(record, change, 'waf', fields).waf).toEqual({ mode: 'Y' });
  expect(applyMask(record, {}, 'name', fields)).not.toHaveProperty('name');
  for (const mask of ['', ',', 'other', 'waf.color', '__proto__', 'constructor.name']) {
    expect(() => applyMask(record, change, mask, fields)).toThrow(/^updateMask: /);
  }
});

test('canonical JSON orders members and keeps values (RFC 8785)', () => {
  const value = { b: [1, 0.5, 1e21], a: { '€': 'ö\n', '1': null }, c: undefined };
  expect(canonicalJson(value)).toBe('{"a":{"1":null,"€":"ö\\n"},"b":[1,0.5,1e+21]}');
  expect(() => canonicalJson(Number.NaN)).toThrow(TypeError);
});

test('changed paths name what differs', () => {
  const before = { a: 1, b: { c: 1, d: 2 }, e: [1] };
  const after = { a: 1, b: { c: 2, d: 2 }, e: [2], f: true };
  expect(changedPaths(before, after)).toEqual(['b.c', 'e', 'f']);
});

test('CRC-32C gives the value of its standard check', () => {
  expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283);
});

test('a described request cannot smuggle', () => {
  const base = {
    method: '',
    url: '/?q=1',
    headers: { 'Content-Length': '5', 'Transfer-Encoding': 'chunked', 'X-A': 'b' },
    body: new TextEncoder().encode('abc'),
    protocol: '',
    clientIp: '',
    peerIp: '',
  };
  const text = Buffer.from(makeTestRequest(base).head).toString();
  expect(text).toBe(
    'GET /?q=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n',
  );
  for (const change of [
    { url: '/a b' },
    { url: '/\r\nX: y' },
    { headers: { 'X\r\nY': 'z' } },
    { headers: { X: 'a\r\nY: z' } },
    { method: 'GET /' },
    { protocol: 'HTTP/9' },
    { protocol: 'HTTP/3' },
  ]) {
    expect(() => makeTestRequest({ ...base, ...change })).toThrow(
      /^(url|headers|method|protocol): /,
    );
  }
});

test.each([
  ['HTTP/2', 'HTTP/2.0'],
  ['http/2.0', 'HTTP/2.0'],
  ['HTTP/1.0', 'HTTP/1.0'],
  ['', 'HTTP/1.1'],
])('a test request of protocol %j has %s in its head', (protocol, named) => {
  const described = { method: '', url: '/', headers: {}, body: new Uint8Array() };
  const { head } = makeTestRequest({ ...described, protocol, clientIp: '', peerIp: '' });
  expect(Buffer.from(head).toString()).toMatch(new RegExp(`^GET / ${named}\r\n`));
});

const includes = {
  pluginConfigs: [],
  pluginsBefore: [],
  rules: ['crs/rules/REQUEST-901.conf', 'crs/rules/REQUEST-949-X.conf'],
  pluginsAfter: [],
  unicodeMap: '',
};

test.each(['3.3.4', '4.28.0'])('every template renders to valid SecLang for CRS %s', (version) => {
  for (const template of builtInTemplates) {
    checkPolicy(template);
    const { seclang, warnings } = renderPolicy(template, { version, includes });
    expect(warnings).toEqual([]);
    expect(parseSecLang(seclang, 'policy.conf').diagnostics).toEqual([]);
  }
  const settings = {
    crsCore: { samplingPercentage: 50, reportingLevel: 0, earlyBlocking: true },
    httpPolicy: {
      allowedMethods: ['GET', 'POST'],
      allowedHttpVersions: ['HTTP/1.1', 'HTTP/2'],
      restrictedExtensions: ['.bak'],
      allowedRequestContentTypes: ['application/json'],
      restrictedHeadersBasic: ['Proxy'],
    },
    argLimits: { maxNumArgs: 5 },
  };
  const setup = renderCrsSetup(settings, version);
  expect(setup).toContain("setvar:'tx.allowed_methods=GET POST'");
  expect(setup).toContain("setvar:'tx.allowed_http_versions=HTTP/1.1 HTTP/2 HTTP/2.0'");
  expect(setup).toContain("setvar:'tx.restricted_extensions=.bak/'");
  expect(setup).toContain("setvar:'tx.max_num_args=5'");
});

test('the setup version is what crs-setup.conf states', () => {
  expect([setupVersion('3.3.4'), setupVersion('OWASP_CRS/4.28.0')]).toEqual(['334', '4280']);
  const path = '/etc/modsecurity/crs/crs-setup.conf';
  if (!existsSync(path)) return;
  expect(readFileSync(path, 'utf8')).toContain(`tx.crs_setup_version=${setupVersion('3.3.4')}`);
});
