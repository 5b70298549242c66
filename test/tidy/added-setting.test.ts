/**
 * The proof that a setting is written once: in a scratch copy each of these messages gets a field,
 * in its .proto files and nowhere else. A document that states it beyond its bounds is refused, and
 * within them it reaches what the engine works with.
 */

import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'waf-setting-'));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const bounded = '[(buf.validate.field).int32 = {gte: 0, lte: 9}]';
/** Which message of which file gets the field; nodes read it from the second of a pair. */
const added: readonly (readonly [file: string, message: string, field: string])[] = [
  ['waf/v1/site.proto', 'BotProtectionConfig', `int32 added_setting = 900 ${bounded};`],
  ['waf/runtime/v1/bundle.proto', 'RuntimeBot', 'uint32 added_setting = 900;'],
  ['waf/v1/rate_limit.proto', 'RateLimitEndpointRecord', `int32 added_setting = 900 ${bounded};`],
  ['waf/runtime/v1/access.proto', 'RuntimeRateLimit', 'uint32 added_setting = 900;'],
  ['waf/v1/upstream.proto', 'UpstreamHealthCheck', `int32 added_setting = 900 ${bounded};`],
  ['waf/runtime/v1/bundle.proto', 'RuntimeHealthCheck', 'uint32 added_setting = 900;'],
  ['waf/v1/delivery.proto', 'CorsRule', `int32 added_setting = 900 ${bounded};`],
];

/** Runs in the scratch copy: each line is one setting, its refusal and what the engine gets. */
const program = `
import { create } from '@bufbuild/protobuf';
import { RuntimeBundleSchema, RuntimeSiteSchema } from './proto/gen/waf/runtime/v1/bundle_pb.ts';
import { SiteSchema } from './proto/gen/waf/v1/site_pb.ts';
import { UpstreamSchema } from './proto/gen/waf/v1/upstream_pb.ts';
import { checkRateLimit } from './control/domain/access/rate-limit.ts';
import { checkBounds } from './control/domain/proto-bounds.ts';
import { checkBotProtection } from './control/domain/site/site-protection.ts';
import { checkUpstream } from './control/domain/site/upstream.ts';
import { poolUpstream, toBundleUpstream } from './control/publish/build-bundle.ts';
import { accessRuleKind } from './control/publish/parts/access-parts.ts';
import { toRuntimeBot } from './control/publish/parts/site-bot.ts';
import { toRuntimeDelivery } from './control/publish/parts/site-delivery.ts';
import { IpSets } from './engine/bundle/ip-set.ts';
import { botProtectionOf } from './engine/bundle/runtime-bot.ts';
import { toUpstream } from './engine/bundle/runtime-config.ts';
import { deliveryOf } from './engine/bundle/runtime-delivery.ts';
import { ratesOf } from './engine/bundle/runtime-rates.ts';

const refusal = (check) => {
  try {
    check();
    return '';
  } catch (error) {
    return error.message;
  }
};

export const bot = (addedSetting) => {
  const mode = 'BOT_PROTECTION_MODE_BROWSER_CHECK';
  const site = { botProtection: checkBotProtection({ mode, addedSetting }, {}) };
  const sent = create(RuntimeSiteSchema, { bot: toRuntimeBot(site) });
  return [
    refusal(() => checkBounds(SiteSchema, site, 'site')),
    botProtectionOf(create(RuntimeBundleSchema), new IpSets())(sent).addedSetting,
  ];
};
export const limit = (addedSetting) => {
  const budget = { requestCount: 1, windowSeconds: 1 };
  const asked = { pathPattern: '/', action: 'block', ...budget, addedSetting };
  const checked = checkRateLimit({ ...asked, addedSetting: 7 });
  const kept = { ...checked, id: 'l', siteId: 's', policyId: '' };
  const lists = { 'rate-limits': [kept] };
  const store = { list: ({ name }) => lists[name] ?? [] };
  const [piece] = accessRuleKind.plan(store);
  const bundle = create(RuntimeBundleSchema, piece.build());
  return [
    refusal(() => checkRateLimit(asked)),
    ratesOf(bundle)({ id: 's', policyId: '' }).limits[0].addedSetting,
  ];
};
export const probe = (addedSetting) => {
  const endpoints = [{ url: 'http://127.0.0.1:1' }];
  const pool = { id: 'p', name: 'p', endpoints, healthCheck: { path: '/', addedSetting } };
  return [
    refusal(() => checkUpstream(pool)),
    toUpstream(poolUpstream(toBundleUpstream(pool))).healthCheck.addedSetting,
  ];
};
export const cors = (addedSetting) => {
  const delivery = { cors: [{ pathPrefix: '/', addedSetting }] };
  return [
    refusal(() => checkBounds(SiteSchema, { delivery }, 'site')),
    deliveryOf({ name: 's', deliveryJson: toRuntimeDelivery(delivery) }).cors[0].addedSetting,
  ];
};
`;

type Walk = (value: number) => [refusal: string, atEngine: unknown];
let walks: Record<'bot' | 'limit' | 'probe' | 'cors', Walk>;

beforeAll(async () => {
  cpSync(join(root, 'proto'), join(copy, 'proto'), { recursive: true });
  for (const room of ['base', 'control', 'engine', 'native-bindings', 'node_modules']) {
    symlinkSync(join(root, room), join(copy, room));
  }
  for (const [file, message, field] of added) {
    const path = join(copy, 'proto', file);
    const head = `message ${message} {\n`;
    const text = readFileSync(path, 'utf8');
    if (!text.includes(head)) throw new Error(`${file} has no message ${message}`);
    writeFileSync(path, text.replace(head, `${head}  // Added.\n  ${field}\n`));
  }
  execFileSync(join(root, 'node_modules/.bin/buf'), ['generate'], { cwd: join(copy, 'proto') });
  mkdirSync(join(copy, 'built'));
  const entry = join(copy, 'walk.ts');
  writeFileSync(entry, program);
  const outfile = join(copy, 'built/walk.mjs');
  const common = { bundle: true, platform: 'node', format: 'esm', packages: 'external' } as const;
  await build({ ...common, entryPoints: [entry], outfile, preserveSymlinks: true });
  walks = (await import(pathToFileURL(outfile).href)) as typeof walks;
});

test.each([
  ['bot', 'site.botProtection.addedSetting'],
  ['limit', 'endpoint.addedSetting'],
  ['probe', 'upstream.healthCheck.addedSetting'],
  ['cors', 'site.delivery.cors[0].addedSetting'],
] as const)('a field added to the messages of %s is bounded and arrives', (name, field) => {
  expect(walks[name](7)).toEqual(['', 7]);
  expect(walks[name](10)[0]).toBe(`${field}: must be between 0 and 9`);
});
