/**
 * Proof that what can be set travels: from a manifest that states every field, control publishes a
 * bundle in which each field of each message says something, and the engine reads each of them.
 */

import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DescField, DescMessage, Message } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toRuntimeConfig } from '../../engine/bundle/runtime-config.ts';
import type { VerifiedBundle } from '../../engine/bundle/signed-bundle.ts';
import { RuntimeBundleSchema } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { connectTakingLink } from '../support/test-link.ts';
import { makeRevocationList, makeTestCertificate } from '../support/test-certificates.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';
import { writeSmallRuleset } from '../support/small-ruleset.ts';
import { eventually } from '../support/eventually.ts';

let waf: TestControl;
let verified: VerifiedBundle;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waf-fields-'));
  waf = await startTestControl({ demoOrigin: null, rulesetFolder: writeSmallRuleset(folder) });
  const { cert, key } = await makeTestCertificate({ names: ['shop.example', '*.shop.example'] });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const upload = { name: 'tls', certPem: base64(cert), keyPem: base64(key) };
  await mustCall('CertService/UploadCert', upload);
  const file = new URL('../../control/cli/manifest/export-everything.yaml', import.meta.url);
  const authority = await makeTestCertificate({ subject: 'CN=Ours', authority: true });
  const yaml = readFileSync(file, 'utf8')
    .replaceAll('AUTHORITY', JSON.stringify(authority.cert))
    .replaceAll('REVOKED', JSON.stringify(await makeRevocationList(authority, [])));
  await mustCall('SystemService/Apply', { manifestYaml: base64(yaml) });
  const applied: VerifiedBundle[] = [];
  const link = await connectTakingLink(waf.socket, applied);
  closers.push(
    () => link.close(),
    () => waf.control.close(),
  );
  verified = await eventually(async () => {
    const last = applied.at(-1);
    return last !== undefined && last.bundle.sites.length > 0 ? last : null;
  });
});
afterAll(async () => {
  for (const close of closers) await close();
});

async function mustCall(rpc: string, body: object): Promise<void> {
  const { status, text } = await waf.call(rpc, body);
  if (status !== 200) throw new Error(text);
}

/** What the manifest cannot say, and where it is proved to travel. */
const saidElsewhere = {
  'RuntimeBundle.responsesJson':
    'a setting with a default: control/api/tables/resource-rules.test.ts',
  'RuntimeBundle.geoDatabases': 'country data are no part of manifests: test/agree/access-live',
  'RuntimeBundle.heldPolicies': 'policies that failed: control/publish/held-policies.test.ts',
  'RuntimeBundle.logPolicies': 'no part of manifests: control/api/log-service/log-policies.test.ts',
  'RuntimeBundle.apiChecks': 'API documents: control/publish/parts/api-check-parts.test.ts',
  'RuntimeBundle.apiLearning': 'learning: control/api/api-schema-service/learning.test.ts',
  'RuntimeBundle.detectionContent': 'learning: control/api/learning-service/learning.test.ts',
  'RuntimeBundle.verifiers': 'they need a secret: control/publish/parts/verifier-parts.test.ts',
  'RuntimeSite.failOpen': 'the API has no such setting: control/publish/manifests/manifest.test.ts',
  'RuntimeSite.shadow': 'it runs for a time: control/api/shadow-service/shadow-runs.test.ts',
  'RuntimePolicy.files': 'plugins of rulesets: control/api/crs-service/plugins.test.ts',
  'RuntimeCountryRule.sortOrder': 'the rule that states it is off: test/agree/access-table.ts',
  'RuntimeClientIpRule.allowUntrusted': 'needs a risk to be accepted: engine/guard/client-ip',
};

/** What others than the step to plain data read: the keeper of bundles, and country data. */
const readElsewhere = ['formatVersion', 'id', 'createdAtMs', 'parts', 'geoDatabases']
  .map((name) => `RuntimeBundle.${name}`)
  .concat(
    'RuntimeRuleset.version',
    ['kind', 'id', 'sha256', 'size'].map((name) => `RuntimePart.${name}`),
  );

/** Whether a value is more than what a message has without it. */
function says(value: unknown): boolean {
  if (value === undefined || value === 0 || value === 0n || value === '' || value === false)
    return false;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length > 0;
  if (typeof value === 'object' && value !== null && !('$typeName' in value))
    return Object.keys(value).length > 0;
  return true;
}

/** Messages directly below one, with their type. */
function below(message: Message, field: DescField): [DescMessage, Message][] {
  const value = (message as unknown as Record<string, unknown>)[field.localName];
  if (field.message === undefined || value === undefined) return [];
  const inner = Array.isArray(value)
    ? value
    : field.fieldKind === 'map'
      ? Object.values(value as object)
      : [value];
  return inner.map((one) => [field.message!, one as Message]);
}

/** Every message of a bundle by the name of its type. */
function byType(schema: DescMessage, message: Message, found = new Map<DescMessage, Message[]>()) {
  const list = found.get(schema) ?? [];
  found.set(schema, [...list, message]);
  for (const field of schema.fields) {
    for (const [type, one] of below(message, field)) byType(type, one, found);
  }
  return found;
}

test('control fills every field', () => {
  const silent: string[] = [];
  for (const [schema, messages] of byType(RuntimeBundleSchema, verified.bundle)) {
    for (const { localName } of schema.fields) {
      const filled = messages.some((one) =>
        says((one as unknown as Record<string, unknown>)[localName]),
      );
      if (!filled) silent.push(`${schema.name}.${localName}`);
    }
  }
  expect(silent).toEqual(Object.keys(saidElsewhere));
});

/** The same message; `read` gets the name of each field that somebody asks for. */
function watched<T>(value: T, read: Set<string>): T {
  if (Array.isArray(value)) return value.map((one: unknown) => watched(one, read)) as T;
  if (typeof value !== 'object' || value === null || !('$typeName' in value)) return value;
  const type = String(value.$typeName).split('.').at(-1);
  return new Proxy(value, {
    get: (target, name) => {
      read.add(`${type}.${String(name)}`);
      return watched(Reflect.get(target, name) as unknown, read);
    },
  });
}

test('the engine reads every field', () => {
  const read = new Set<string>();
  toRuntimeConfig({ ...verified, bundle: watched(verified.bundle, read) });
  const unread: string[] = [];
  for (const schema of byType(RuntimeBundleSchema, verified.bundle).keys()) {
    for (const { localName } of schema.fields) {
      if (!read.has(`${schema.name}.${localName}`)) unread.push(`${schema.name}.${localName}`);
    }
  }
  expect(unread).toEqual(readElsewhere);
});
