/** A node serves only what was granted to it, by the key of its enrollment, in order. */

import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { servingGrantId } from '../../base/serving-grant.ts';
import { rawPublicKey } from '../bundle/keys.ts';
import { ServingGrants } from './serving-grants.ts';

const controller = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
const key = rawPublicKey(controller.publicKey);
const [first, second] = ['a'.repeat(64), 'b'.repeat(64)];

function grant(
  changed: object,
  by: KeyObject = controller.privateKey,
): [bytes: Uint8Array, signature: Uint8Array] {
  const content = {
    id: servingGrantId,
    nodeId: 'agent-1',
    revision: '7',
    configRevisionId: 'config-7',
    generation: '7',
    bundleId: 'config-7',
    targetRevision: '7',
    artifactSha256: first,
    siteIds: ['site-1'],
    ...changed,
  };
  const bytes = Buffer.from(JSON.stringify(content));
  return [bytes, sign(null, bytes, by)];
}

const grantsIn = (folder: string): ServingGrants => new ServingGrants('agent-1', key, folder);
const scratch = (): string => mkdtempSync(join(tmpdir(), 'waf-grants-'));

test('nothing is served without a grant, and then only what it names', () => {
  const grants = grantsIn(scratch());
  expect(() => grants.require(first)).toThrow('no serving grant');
  expect(grants.take(...grant({}))).toMatchObject({ revision: '7' });
  grants.require(first);
  expect(() => grants.require(second)).toThrow('no serving grant');
});

const refused: readonly (readonly [string, [Uint8Array, Uint8Array], string])[] = [
  ['for another node', grant({ nodeId: 'agent-2' }), 'another node'],
  ['by another key', grant({}, stranger.privateKey), 'signature'],
  ['without a signature', [grant({})[0], new Uint8Array()], 'signed'],
  ['with the signature of another', [grant({})[0], grant({ revision: '8' })[1]], 'signature'],
  ['of another form', grant({ id: 'waf.serving_grant.v2' }), 'form'],
  ['without an artifact', grant({ artifactSha256: '' }), 'form'],
  ['with a revision that is no number', grant({ revision: '-1' }), 'form'],
  ['that is older than the newest', grant({ revision: '6', artifactSha256: second }), 'older'],
];

test.each(refused)('a grant %s counts for nothing', (_, [bytes, signature], says) => {
  const grants = grantsIn(scratch());
  grants.take(...grant({}));
  expect(grants.take(bytes, signature)).toContain(says);
  grants.require(first);
  expect(() => grants.require(second)).toThrow('no serving grant');
});

test('a node that starts alone serves what the kept grant names, unless it was changed', () => {
  const folder = scratch();
  const grants = grantsIn(folder);
  expect(grantsIn(folder).allowsKept(first)).toBe(false);
  grants.take(...grant({}));
  grants.keep(second);
  expect(grantsIn(folder).allowsKept(second)).toBe(false);
  grants.keep(first);
  expect(grantsIn(folder).allowsKept(first)).toBe(true);
  expect(grantsIn(folder).allowsKept(second)).toBe(false);
  expect(new ServingGrants('agent-2', key, folder).allowsKept(first)).toBe(false);
  const other = rawPublicKey(stranger.publicKey);
  expect(new ServingGrants('agent-1', other, folder).allowsKept(first)).toBe(false);
  const path = join(folder, 'serving-grant.json');
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, -20));
  expect(grantsIn(folder).allowsKept(first)).toBe(false);
});
