/**
 * The proof that a setting of a site is written once on each side: in the message that sets it, in
 * the message that nodes get, and in the engine where it is read. Masks, the way into the bundle
 * and the way out of it know no single field.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { RuntimeBotSchema } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { BotProtectionConfigSchema } from '../../proto/gen/waf/v1/site_pb.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** What decides, publishes and serves; commands and pages show what people ask for. */
const rooms = ['control/api', 'control/domain', 'control/publish', 'engine', 'proto/waf'];

function filesThatName(word: RegExp): string[] {
  return rooms
    .flatMap((room) =>
      readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(room, name),
      ),
    )
    .filter((path) => /\.(?:ts|proto)$/.test(path) && !path.endsWith('.test.ts'))
    .filter((path) => word.test(readFileSync(join(root, path), 'utf8')))
    .sort();
}

test('a setting that only the engine reads is in four files', () => {
  expect(filesThatName(/challengeCrawlers|challenge_crawlers/)).toEqual([
    'engine/contract/bot.ts',
    'engine/guard/bot/bot-gate.ts',
    'proto/waf/runtime/v1/bundle.proto',
    'proto/waf/v1/site.proto',
  ]);
});

test('what a site can demand of clients travels by name', () => {
  const namesOf = ({ fields }: { fields: readonly { jsonName: string }[] }): string[] =>
    fields.map(({ jsonName }) => jsonName).sort();
  expect(namesOf(RuntimeBotSchema)).toEqual(namesOf(BotProtectionConfigSchema));
});
