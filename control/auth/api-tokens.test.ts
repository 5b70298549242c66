/** Tests the text of API tokens, and when their times end, with a clock of the test's. */

import { expect, test } from 'vitest';
import type { Clock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import type { RoleRecord, UserRecord } from '../domain/records.ts';
import { roles, users } from '../store/collections.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { openStore } from '../store/store.ts';
import { apiTokens, type ApiTokenRecord } from '../store/token-collections.ts';
import { openApiTokens } from './api-tokens.ts';
import { idOfToken, makeTokenId, makeTokenText, sha256OfToken } from './token-text.ts';

const start = Date.parse('2026-11-01T12:00:00Z');
const hourMs = 3600_000;

test('a text is its id, a secret of 40 characters and a checksum', () => {
  const id = makeTokenId();
  const text = makeTokenText(id);
  expect(text).toMatch(/^waf_[0-9A-Za-z]{58}$/);
  expect(idOfToken(text)).toBe(id);
  expect(new Set(Array.from({ length: 1000 }, () => makeTokenText(id))).size).toBe(1000);
});

test('a text with any one character changed fails its checksum', () => {
  const text = makeTokenText(makeTokenId());
  for (let at = 0; at < text.length; at++) {
    const other = text[at] === 'a' ? 'b' : 'a';
    expect(idOfToken(text.slice(0, at) + other + text.slice(at + 1))).toBeNull();
  }
  for (const wrong of ['', 'waf_', text.slice(1), `${text}0`, text.toLowerCase().slice(0, -1)]) {
    expect(idOfToken(wrong)).toBeNull();
  }
});

/** A store with an owner, a role and tokens; `at` is what the clock says. */
async function setUp(...changes: readonly Partial<ApiTokenRecord>[]) {
  const at = { ms: start };
  const clock = { nowMs: () => at.ms } as Clock;
  const store = await openStore(openMemoryKv(), clock);
  const made = changes.map((change) => {
    const id = change.id ?? makeTokenId();
    const text = makeTokenText(id);
    const record: ApiTokenRecord = {
      ...{ id, tenantId: 'default', name: id, ownerId: 'user-1', makerId: '', roleId: 'role-1' },
      ...{ permissions: [], siteIds: [], mayManageTokens: false },
      secrets: [{ sha256: sha256OfToken(text), endsAt: '' }],
      ...{ createdAt: '', expiresAt: '', lastUsedAt: '', lastUsedAddress: '' },
      ...change,
    };
    return { text, record };
  });
  await store.write((tx) => {
    const owner = { id: 'user-1', tenantId: 'default', username: 'o', roleIds: ['role-1'] };
    tx.put(users, { ...owner, email: '', displayName: '', locked: false } as unknown as UserRecord);
    const role = { id: 'role-1', tenantId: 'default', name: 'r', permissions: ['site:read'] };
    tx.put(roles, role as unknown as RoleRecord);
    for (const { record } of made) tx.put(apiTokens, record);
  });
  const tokens = openApiTokens(store, clock, silentLogger);
  return { at, store, tokens, made };
}

const iso = (ms: number): string => new Date(ms).toISOString();

test('a token ends when its time has come, not before', async () => {
  const { at, tokens, made } = await setUp({ expiresAt: iso(start + hourMs) });
  const [{ text, record }] = made as [(typeof made)[0]];
  const ask = async () => (await tokens.callerOf(text, '192.0.2.1')) !== null;
  at.ms = start + hourMs - 1;
  expect(await ask()).toBe(true);
  expect(tokens.current(record.id, '')).not.toBeNull();
  at.ms = start + hourMs;
  expect(await ask()).toBe(false);
  expect(tokens.current(record.id, '')).toBeNull();
});

test('the text before a rotation ends with the overlap, the new one does not', async () => {
  const id = makeTokenId();
  const [old, next] = [makeTokenText(id), makeTokenText(id)];
  const { at, tokens } = await setUp({
    id,
    secrets: [
      { sha256: sha256OfToken(old), endsAt: iso(start + hourMs) },
      { sha256: sha256OfToken(next), endsAt: '' },
    ],
  });
  const ask = async (text: string) => (await tokens.callerOf(text, '192.0.2.1')) !== null;
  expect([await ask(old), await ask(next)]).toEqual([true, true]);
  at.ms = start + hourMs;
  expect([await ask(old), await ask(next)]).toEqual([false, true]);
});

test('a token that a token made ends with it, and holds no more', async () => {
  const maker = { id: makeTokenId(), expiresAt: iso(start + hourMs), siteIds: ['a', 'b'] };
  const { at, tokens, made } = await setUp(maker, { makerId: maker.id, siteIds: ['b', 'c'] });
  const child = made[1]!.text;
  const caller = await tokens.callerOf(child, '192.0.2.1');
  expect([...(caller?.token?.siteIds ?? [])]).toEqual(['b']);
  at.ms = start + hourMs;
  expect(await tokens.callerOf(child, '192.0.2.1')).toBeNull();
});

test('the last use is written at most once a minute', async () => {
  const { at, store, tokens, made } = await setUp({});
  const [{ text, record }] = made as [(typeof made)[0]];
  const used = () => store.get(apiTokens, record.id)?.lastUsedAt;
  await tokens.callerOf(text, '192.0.2.1');
  expect(used()).toBe(iso(start));
  at.ms = start + 59_999;
  await tokens.callerOf(text, '192.0.2.1');
  expect(used()).toBe(iso(start));
  at.ms = start + 60_000;
  await tokens.callerOf(text, '192.0.2.1');
  expect(used()).toBe(iso(start + 60_000));
});

test('guesses from an address are refused for a minute, elsewhere and later they are not', async () => {
  const { at, tokens, made } = await setUp({});
  const [{ text }] = made as [(typeof made)[0]];
  for (let guess = 0; guess < 21; guess++) {
    expect(await tokens.callerOf('waf_guess', '192.0.2.1')).toBeNull();
  }
  await expect(tokens.callerOf(text, '192.0.2.1')).rejects.toThrow('too many wrong API tokens');
  expect(await tokens.callerOf(text, '192.0.2.2')).not.toBeNull();
  at.ms = start + 60_001;
  expect(await tokens.callerOf(text, '192.0.2.1')).not.toBeNull();
});
