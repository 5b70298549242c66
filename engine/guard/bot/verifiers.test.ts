/** Questions to services of others: what they say, what fails, and what bounds them. */

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { verifierLimits } from '../../../base/guard-limits.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startVerifierStub, type VerifierStub } from '../../../test/support/verifier-stub.ts';
import type { VerifierConfig } from '../../contract/bot.ts';
import { originsOf, scriptUrlOf } from './verifier-services.ts';
import { readResponse, Verifiers } from './verifiers.ts';

let stub: VerifierStub;
beforeEach(async () => {
  stub = await startVerifierStub();
});
afterEach(async () => {
  vi.useRealTimers();
  await stub.close();
});

const question = { response: 'given', clientIp: '192.0.2.1', hosts: ['a.example'], nowMs: 0 };

async function said(
  change: Partial<VerifierConfig> = {},
  hosts: readonly string[] = ['a.example'],
  verifiers = new Verifiers(),
): Promise<string> {
  const { outcome, why } = await verifiers.ask(stub.config(change), { ...question, hosts });
  return why === '' ? outcome : `${outcome}: ${why}`;
}

const onHost = { success: true, hostname: 'a.example' };

test('the service gets the secret, what the visitor gave and the address', async () => {
  stub.answer = onHost;
  expect(await said({ kind: 'hcaptcha' })).toBe('passed');
  expect([...stub.forms[0]!]).toEqual([
    ['secret', 'hidden'],
    ['response', 'given'],
    ['remoteip', '192.0.2.1'],
    ['sitekey', 'site-key'],
  ]);
});

test.each<[string, object, Partial<VerifierConfig>, string]>([
  ['a host in capitals', { success: true, hostname: 'A.Example' }, {}, 'passed'],
  [
    'another host',
    { success: true, hostname: 'b.example' },
    {},
    'refused: it was answered on another host',
  ],
  ['no host', { success: true }, {}, 'refused: it was answered on another host'],
  [
    'a duplicate',
    { success: false, 'error-codes': ['timeout-or-duplicate', '<b>', 7] },
    {},
    'refused: it refused the visitor: timeout-or-duplicate',
  ],
  [
    'a wrong secret',
    { success: false, 'error-codes': ['invalid-input-secret'] },
    {},
    'failed: it answered invalid-input-secret',
  ],
  ['no verdict', { ok: true }, {}, 'failed: its answer cannot be read'],
  ['a verdict of another type', { success: 'true' }, {}, 'failed: its answer cannot be read'],
  [
    'a score',
    { ...onHost, score: 0.5, action: 'challenge' },
    { kind: 'recaptcha_score' },
    'passed',
  ],
  [
    'a low score',
    { ...onHost, score: 0.4, action: 'challenge' },
    { kind: 'recaptcha_score' },
    'refused: the score is too low',
  ],
  [
    'another action',
    { ...onHost, score: 0.9, action: 'login' },
    { kind: 'recaptcha_score' },
    'refused: it was another action',
  ],
])('reads an answer: %s', async (_, answer, change, expected) => {
  stub.answer = answer;
  expect(await said(change)).toBe(expected);
});

test('a wildcard host stands for one label', async () => {
  const hosts = ['*.a.example'];
  for (const [hostname, expected] of [
    ['www.a.example', 'passed'],
    ['a.example', 'refused: it was answered on another host'],
    ['x.www.a.example', 'refused: it was answered on another host'],
    ['www.a.example.evil.test', 'refused: it was answered on another host'],
  ]) {
    stub.answer = { success: true, hostname };
    expect(await said({}, hosts)).toBe(expected);
  }
});

describe('what fails', () => {
  test('a status, another form, a large answer', async () => {
    stub.answer = (response) => response.writeHead(500).end('{"success":true}');
    expect(await said()).toBe('failed: it answered with status 500');
    // A redirect is not followed: the secret stays where it was sent.
    stub.answer = (response) => response.writeHead(302, { Location: '/other' }).end();
    expect(await said()).toBe('failed: it answered with status 302');
    // 400 may refuse a visitor, and never lets one pass.
    const refusal = JSON.stringify({ success: false, 'error-codes': ['invalid-input-response'] });
    stub.answer = (response) => response.writeHead(400).end(refusal);
    expect(await said()).toBe('refused: it refused the visitor: invalid-input-response');
    stub.answer = (response) => response.writeHead(400).end(JSON.stringify(onHost));
    expect(await said()).toBe('failed: it answered with status 400');
    stub.answer = (response) => response.writeHead(200).end('<html>');
    expect(await said()).toBe('failed: its answer cannot be read');
    const large = JSON.stringify({ ...onHost, more: 'x'.repeat(verifierLimits.answerBytesMax) });
    stub.answer = (response) => response.writeHead(200).end(large);
    expect(await said()).toBe('failed: its answer is too large');
    stub.answer = (response) => void response.socket?.destroy();
    expect(await said()).toBe('failed: it could not be asked');
  });

  test('an answer that does not come in time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    stub.answer = () => void vi.advanceTimersByTime(verifierLimits.askMs);
    expect(await said()).toBe('failed: it took too long');
  });

  test('an address that is special, a name without one, nobody there', async () => {
    expect(await said({ allowedNetworks: [] })).toBe(
      'failed: its address is special and not allowed',
    );
    expect(await said({ verifyUrl: 'https://nowhere.invalid/' })).toBe(
      'failed: its name cannot be resolved',
    );
    expect(await said({ verifyUrl: 'http://127.0.0.1:1/' })).toBe('failed: it refuses connections');
    expect(await said({ verifyUrl: `https://127.0.0.1:${stub.port}/` })).toContain('failed: it');
    expect(stub.forms).toEqual([]);
  });

  test('is left alone after some failures in a row, and asked again', async () => {
    const faults: unknown[] = [];
    const verifiers = new Verifiers((fault) => faults.push(fault));
    const { failuresMax, restMs } = verifierLimits;
    stub.answer = (response) => response.writeHead(503).end();
    const config = stub.config();
    for (let turn = 1; turn < failuresMax; turn++) await verifiers.ask(config, question);
    expect(verifiers.isUp(config, 0)).toBe(true);
    await verifiers.ask(config, question);
    expect(verifiers.isUp(config, 0)).toBe(false);
    expect(verifiers.isUp(stub.config({ id: 'other' }), 0)).toBe(true);
    expect(verifiers.isUp(config, restMs)).toBe(true);
    expect(faults).toEqual([{ verifier: 'stub', why: 'it answered with status 503' }]);
    // One failure more is enough for the next rest; a success ends them.
    await verifiers.ask(config, { ...question, nowMs: restMs });
    expect(verifiers.isUp(config, restMs)).toBe(false);
    stub.answer = onHost;
    await verifiers.ask(config, { ...question, nowMs: 2 * restMs });
    expect(verifiers.isUp(config, restMs)).toBe(true);
    expect(JSON.stringify(faults)).not.toContain('hidden');
  });

  test('a visitor who is refused is no failure', async () => {
    const verifiers = new Verifiers();
    stub.answer = { success: false };
    for (let turn = 0; turn < 2 * verifierLimits.failuresMax; turn++) {
      await verifiers.ask(stub.config(), question);
    }
    expect(verifiers.isUp(stub.config(), 0)).toBe(true);
  });
});

test('questions under way are bounded', async () => {
  const verifiers = new Verifiers();
  const waiting: (() => void)[] = [];
  stub.answer = (response) =>
    void waiting.push(() => response.writeHead(200).end(JSON.stringify(onHost)));
  const asked = Array.from({ length: verifierLimits.asksMax }, () =>
    said({}, ['a.example'], verifiers),
  );
  expect(verifiers.isFree).toBe(false);
  expect(await said({}, ['a.example'], verifiers)).toBe(
    'failed: too many visitors are being checked',
  );
  expect(verifiers.isUp(stub.config(), 0)).toBe(true);
  await eventually(() => waiting.length === verifierLimits.asksMax);
  for (const answer of waiting) answer();
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['passed']));
  expect(verifiers.isFree).toBe(true);
});

test.each([
  ['given.to-a_person', 'given.to-a_person'],
  ['a%3Db', 'a=b'],
  ['', null],
  ['a b', null],
  ['a%0d%0a', null],
  ['%e0%a4', null],
  ['x'.repeat(verifierLimits.responseCharsMax + 1), null],
])('what a visitor hands in is bounded text: %.20s', (text, expected) => {
  expect(readResponse(text)).toBe(expected);
});

test('each service has its script and its origins', () => {
  const of = (change: Partial<VerifierConfig>): readonly string[] => {
    const config = stub.config(change);
    return [scriptUrlOf(config, 'de'), ...originsOf(config)];
  };
  expect(of({ scriptUrl: 'https://challenges.cloudflare.com/turnstile/v0/api.js' })).toEqual([
    'https://challenges.cloudflare.com/turnstile/v0/api.js',
    'https://challenges.cloudflare.com',
  ]);
  expect(of({ kind: 'hcaptcha', scriptUrl: 'https://js.hcaptcha.com/1/api.js' })).toEqual([
    'https://js.hcaptcha.com/1/api.js?hl=de',
    'https://hcaptcha.com',
    'https://*.hcaptcha.com',
  ]);
  const google = { scriptUrl: 'https://www.google.com/recaptcha/api.js' };
  expect(of({ kind: 'recaptcha', ...google })[0]).toBe(`${google.scriptUrl}?hl=de`);
  expect(of({ kind: 'recaptcha_score', ...google })[0]).toBe(
    `${google.scriptUrl}?hl=de&render=site-key`,
  );
  const mirror = { kind: 'recaptcha', scriptUrl: 'https://www.recaptcha.net/api.js' } as const;
  expect(of(mirror).slice(1)).toContain('https://www.gstatic.com/recaptcha/');
  expect(of(mirror).at(-1)).toBe('https://www.recaptcha.net');
});
