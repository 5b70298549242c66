/**
 * Measures how long sign-in takes for known and unknown users: `node test/identity/login-timing.mjs
 * [rounds]`, after `npm test` has compiled. Not part of `npm test`: it measures time.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const built = process.env.WAF_BUILD_DIR ?? join(import.meta.dirname, '..', '..', '.build');
const load = (path) => import(join(built, ...path.split('/')));
const rounds = Number(process.argv[2] ?? 200);
const password = 'correct horse battery';

const { systemClock } = await load('base/clock.js');
const { hashPassword } = await load('control/auth/passwords.js');
const { openSignIn } = await load('control/auth/sign-in.js');
const { credentials, users } = await load('control/store/collections.js');
const { openLmdbKv } = await load('control/store/lmdb-kv.js');
const { openStore } = await load('control/store/store.js');

const folder = mkdtempSync(join(tmpdir(), 'waf-timing-'));
const store = await openStore(openLmdbKv({ folder, durable: true }), systemClock);
const signIn = openSignIn(store, systemClock, Number.MAX_SAFE_INTEGER);
const passwordHash = await hashPassword(password);
const at = new Date().toISOString();

/** A user that is not locked out yet; each is tried once. */
async function addUser(username, change = {}) {
  await store.write((tx) => {
    const id = `user-${username}`;
    tx.put(users, {
      id,
      tenantId: 'default',
      username,
      email: '',
      displayName: '',
      roleIds: [],
      locked: false,
      createdAt: at,
      updatedAt: at,
    });
    const rest = { failedAttempts: 0, lockedUntil: '', sessionEpoch: 1 };
    tx.put(credentials, { id, passwordHash, ...rest, ...change });
  });
}

async function time(username, given) {
  const began = process.hrtime.bigint();
  await signIn
    .password({ username, password: given, address: '192.0.2.1', remember: true })
    .catch(() => undefined);
  return Number(process.hrtime.bigint() - began) / 1e6;
}

const kinds = {
  'known, wrong password': (round) => time(`known-${round}`, 'a wrong password'),
  'unknown user': (round) => time(`unknown-${round}`, 'a wrong password'),
  'no password here': (round) => time(`sso-${round}`, 'a wrong password'),
  'locked out, right password': (round) => time(`out-${round}`, password),
};
for (let round = -10; round < rounds; round++) {
  const lockedUntil = new Date(Date.now() + 3_600_000).toISOString();
  await addUser(`known-${round}`);
  await addUser(`sso-${round}`, { passwordHash: '' });
  await addUser(`out-${round}`, { lockedUntil });
}

const times = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
for (let round = -10; round < rounds; round++) {
  // Another order each round, so that none is always the one after a pause.
  const order = Object.entries(kinds).sort(() => Math.random() - 0.5);
  for (const [kind, run] of order) {
    const took = await run(round);
    if (round >= 0) times[kind].push(took);
  }
}
await store.close();
rmSync(folder, { recursive: true });

process.stdout.write(`${rounds} sign-ins of each kind, milliseconds\n`);
for (const [kind, list] of Object.entries(times)) print(kind, list);
const [[known, ofKnown], ...others] = Object.entries(times);
process.stdout.write(`\nmore than "${known}" of the same round\n`);
for (const [kind, list] of others) {
  const differences = list.map((one, round) => one - ofKnown[round]);
  print(kind, differences);
}

function print(kind, list) {
  const mean = list.reduce((sum, one) => sum + one, 0) / list.length;
  const variance = list.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (list.length - 1);
  const noise = Math.sqrt(variance / list.length);
  const median = list.toSorted((left, right) => left - right)[Math.floor(list.length / 2)];
  const show = (value) => value.toFixed(2).padStart(7);
  const figures = `mean ${show(mean)}  standard error ${show(noise)}  median ${show(median)}`;
  process.stdout.write(`${kind.padEnd(28)} ${figures}\n`);
}
