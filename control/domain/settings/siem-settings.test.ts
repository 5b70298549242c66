/** Tests the settings of SIEM targets: what they may be, and that keys of clients stay inside. */

import { expect, test } from 'vitest';
import { hideIdentitySecrets, keepIdentitySecrets } from './identity-settings.ts';
import { checkSettings } from './settings.ts';
import { siemTargetsOf, wantsAnswerBodies, wantsEveryRequest } from './siem-settings.ts';

const good = { id: 'a', transport: 'tcp', host: 'siem.example', port: 514, format: 'ecs' };
const pem = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n';
const key = 'siem.targets';
const without = (name: keyof typeof good): object =>
  Object.fromEntries(Object.entries(good).filter(([own]) => own !== name));

test('a target needs little; the rest has a standard', () => {
  checkSettings({ [key]: [good] });
  expect(siemTargetsOf({ [key]: [good] })).toMatchObject([
    { events: ['security'], framing: 'octet_counting', facility: 16, queueBytes: 8_388_608 },
  ]);
  expect(siemTargetsOf({ [key]: [{ ...good, format: 'access' }] })[0]?.events).toEqual(['access']);
  expect(siemTargetsOf({ [key]: [{ ...good, enabled: false }] })).toEqual([]);
  expect(siemTargetsOf({})).toEqual([]);
});

test.each<[string, unknown, string]>([
  ['no list', {}, 'values.siem.targets'],
  ['too many', Array.from({ length: 17 }, (_, at) => ({ ...good, id: `t${at}` })), 'at most 16'],
  ['an unknown field', [{ ...good, url: 'x' }], 'Unknown key'],
  ['a field that every object has', [{ ...good, constructor: 'x' }], 'Unknown key'],
  ['no id', [without('id')], 'values.siem.targets[0].id: is required'],
  ['no transport', [without('transport')], '[0].transport: is required'],
  ['no format', [without('format')], '[0].format: is required'],
  ['no host', [{ ...good, host: undefined }], 'values.siem.targets[0].host'],
  ['a host that is an address of a page', [{ ...good, host: 'http://x' }], '[0].host'],
  ['no port', [{ ...good, port: 0 }], '[0].port'],
  ['another transport', [{ ...good, transport: 'http' }], '[0].transport'],
  ['another form', [{ ...good, format: 'cef' }], '[0].format'],
  ['another event', [{ ...good, events: ['audit'] }], '[0].events[0]'],
  ['one event twice', [{ ...good, events: ['access', 'access'] }], '[0].events'],
  ['audit of access', [{ ...good, format: 'audit', events: ['access'] }], '[0].events'],
  ['an id twice', [good, good], '[1].id'],
  ['an id with a space', [{ ...good, id: 'a b' }], '[0].id'],
  ['a queue without bound', [{ ...good, queueBytes: 1e12 }], '[0].queueBytes'],
  ['an authority without TLS', [{ ...good, caPem: pem }], '[0].caPem'],
  ['no PEM', [{ ...good, transport: 'tls', caPem: 'x' }], '[0].caPem'],
  ['half of a client', [{ ...good, transport: 'tls', clientCertPem: pem }], '[0].clientKeyPem'],
])('%s is refused', (_, targets, message) => {
  expect(() => checkSettings({ [key]: targets })).toThrow(message);
});

test('the key of a client is never shown, and kept when it comes back hidden', () => {
  const secret = { ...good, transport: 'tls', clientCertPem: pem, clientKeyPem: 'private' };
  const stored = { [key]: [secret] };
  checkSettings(stored);
  const shown = hideIdentitySecrets(stored);
  expect(JSON.stringify(shown)).not.toContain('private');
  expect(keepIdentitySecrets(shown, stored)).toEqual(stored);
});

test('nodes send every request only where a target takes access events', () => {
  expect(wantsEveryRequest({ [key]: [good] })).toBe(false);
  expect(wantsEveryRequest({ [key]: [{ ...good, events: ['access'] }] })).toBe(true);
  const off = { ...good, events: ['access'], enabled: false };
  expect(wantsEveryRequest({ [key]: [off] })).toBe(false);
});

test('bodies of answers are wanted where an audit target takes evidence', () => {
  const wants = (more: object): boolean => wantsAnswerBodies({ [key]: [{ ...good, ...more }] });
  expect(wants({ format: 'audit', evidence: true })).toBe(true);
  expect(wants({ format: 'audit' })).toBe(false);
  expect(wants({ format: 'audit', evidence: true, enabled: false })).toBe(false);
  expect(wantsAnswerBodies({})).toBe(false);
});
