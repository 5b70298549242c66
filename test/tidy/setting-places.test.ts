/**
 * The proof that a setting of a site is written once on each side: in the message that sets it, in
 * the message that nodes get, and in the engine where it is read. Masks, the way into the bundle
 * and the way out of it know no single field.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ScalarType, type DescMessage } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { siteOptions } from '../../control/domain/site/site-choices.ts';
import {
  RuntimeBotSchema,
  RuntimeSiteOptionsSchema,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { SiteDeliverySchema } from '../../proto/gen/waf/v1/delivery_pb.ts';
import { RateLimitEndpointRecordSchema } from '../../proto/gen/waf/v1/rate_limit_pb.ts';
import { BotProtectionConfigSchema } from '../../proto/gen/waf/v1/site_pb.ts';
import { ClientIPRuleSchema } from '../../proto/gen/waf/v1/trust_pb.ts';
import {
  UpstreamHealthCheckSchema,
  UpstreamResiliencePolicySchema,
} from '../../proto/gen/waf/v1/upstream_pb.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** What decides, publishes and serves; commands and pages show what people ask for. */
const rooms = ['control/api', 'control/domain', 'control/publish', 'engine', 'proto/waf'];

type SourceText = readonly [path: string, text: string];

const textsIn = (room: string): SourceText[] =>
  readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .map((name) => join(room, name))
    .filter((path) => /\.(?:tsx?|proto)$/.test(path) && !path.endsWith('.test.ts'))
    .map((path) => [path, readFileSync(join(root, path), 'utf8')]);

const texts = rooms.flatMap(textsIn);

function filesThatName(word: RegExp): string[] {
  return texts.flatMap(([path, text]) => (word.test(text) ? path : []));
}

/** Who names a field at most: its two messages, what decides about it, what does it. */
const placesMax = 4;

/** Fields that more files name, and how many: what they decide is asked in several places. */
const inMore: Readonly<Record<string, number>> = {
  allowUntrusted: 6,
  challengePaths: 6,
  copiedFields: 5,
  countingKey: 5,
  exemptPaths: 5,
  mitigationSeconds: 5,
  trustedIpListIds: 7,
  underAttack: 5,
};

/** Names that stand for other things elsewhere, too. */
const general = new Set(['maxBytes', 'nodeIds', 'pathPattern', 'timeoutMs', 'timeoutSeconds']);

/** Settings with a message of their own on the way to nodes, and those that travel as they are. */
const paired: readonly DescMessage[] = [
  BotProtectionConfigSchema,
  RateLimitEndpointRecordSchema,
  UpstreamHealthCheckSchema,
  UpstreamResiliencePolicySchema,
  ClientIPRuleSchema,
];
const delivered = SiteDeliverySchema.fields.flatMap(({ message }) => message ?? []);

/** In how many messages a name is a field. */
function messagesWith(name: string): number {
  const field = new RegExp(`\\b${name} = \\d`, 'g');
  return texts
    .filter(([path]) => path.endsWith('.proto'))
    .reduce((sum, [, text]) => sum + (text.match(field) ?? []).length, 0);
}

/** Of a message, the fields whose names are theirs alone, with the number of files. */
function countsOf({ fields }: DescMessage, messages: number): (readonly [string, number])[] {
  return fields
    .filter(({ name, message, jsonName }) => {
      const own = name.includes('_') && !general.has(jsonName) && message === undefined;
      return own && messagesWith(name) <= messages;
    })
    .map(({ name, jsonName }) => {
      const count = filesThatName(new RegExp(`\\b(?:${jsonName}|${name})\\b`)).length;
      return [jsonName, count] as const;
    });
}

test('a setting is in at most four files', () => {
  const counted = [
    ...paired.flatMap((message) => countsOf(message, 2)),
    ...delivered.flatMap((message) => countsOf(message, 1)),
  ];
  expect(counted.length).toBeGreaterThan(30);
  const more = counted.filter(([, count]) => count > placesMax);
  expect(Object.fromEntries(more)).toEqual(inMore);
});

test('a switch of what clients prove is a row of its page, and two of its command', () => {
  const shown = ['control/cli', 'control/console'].flatMap(textsIn);
  // Being under attack has a button, and an end.
  const switches = BotProtectionConfigSchema.fields.filter(
    ({ scalar, jsonName }) => scalar === ScalarType.BOOL && jsonName !== 'underAttack',
  );
  expect(switches.length).toBeGreaterThan(1);
  for (const { jsonName } of switches) {
    const lines = shown.flatMap(([path, text]) => {
      const named = text.split('\n').filter((line) => new RegExp(`\\b${jsonName}\\b`).test(line));
      return named.map(() => path);
    });
    const command = 'control/cli/protection/bot-commands.ts';
    const page = 'control/console/pages/site-challenges.tsx';
    expect(lines, jsonName).toEqual([command, command, page]);
  }
});

test('options of sites travel by name', () => {
  const names = RuntimeSiteOptionsSchema.fields.map(({ jsonName }) => jsonName);
  expect(['siteId', ...siteOptions.map(({ field }) => field)].sort()).toEqual(names.sort());
});

test('what a site can demand of clients travels by name', () => {
  const namesOf = ({ fields }: { fields: readonly { jsonName: string }[] }): string[] =>
    fields.map(({ jsonName }) => jsonName).sort();
  expect(namesOf(RuntimeBotSchema)).toEqual(namesOf(BotProtectionConfigSchema));
});
