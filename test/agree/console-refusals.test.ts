/**
 * Proof that the console has a Chinese text for every refusal of the management API that a person
 * can meet: each sentence that stands in the source as the message of a refusal is translated.
 */

import { expect, test } from 'vitest';
import { translate } from '../../control/console/text/catalog.ts';
import { chinese } from '../../control/console/text/chinese.ts';
import { readSources } from '../tidy/source-files.ts';
import { refusalsIn } from './refusal-texts.ts';

/** Rooms whose refusals reach the console. */
const rooms = /^control\/(?:access|api|assist|auth|documents|domain|observe|publish)\//;

/** Sources whose refusals no person meets in the console, with the reason. */
const forMachines: readonly (readonly [path: RegExp, reason: string])[] = [
  [/\/agent-stream-service\//, 'a node connects'],
  [/\/evidence-upload-service\//, 'a node uploads evidence'],
  [/\/nodes\/admit-node\.ts$/, 'a node connects'],
  [/\/agent-service\/enroll\.ts$/, 'a node enrolls'],
  [/\/release\/enrollment\.ts$/, 'a node enrolls'],
  [/\/node-service\/renew-identity\.ts$/, 'a node renews its certificate'],
  [/\/api\/(?:listener\/server|metrics\/metrics-listener)\.ts$/, 'the program does not start'],
  [/\/publish\/(?:manifests\/policy-import|rulesets\/ruleset-(?:folder|pack))\.ts$/, 'a command'],
  [/\/observe\/(?:clickhouse|evidence)\/[a-z-]+-(?:option|keyring)\.ts$/, 'environment variables'],
];

/** Stands for a value in what is read. */
const value = '\u0000';

/** Sentences whose words are values; those are translated with the sentence as a whole. */
const onlyValues: readonly string[] = ['must be 7', 'releaseId: 7 7', 'No 7 with the id 7.'];

const sources = readSources('.ts').filter(
  ({ path }) => rooms.test(path) && !/\.(?:test|test-support)\.ts$/.test(path),
);
const shown = sources.filter(({ path }) => !forMachines.some(([machine]) => machine.test(path)));

/**
 * Of the refusals of a source those without a Chinese text. A value is a number or a name, or a
 * refusal that is passed on.
 */
function missingIn(path: string, text: string): string[] {
  return refusalsIn(path, text, value)
    .filter(
      (one) =>
        /[a-z]{2}/.test(one) &&
        !onlyValues.includes(one.replaceAll(value, '7')) &&
        translate(chinese, one.replaceAll(value, '7')) === null &&
        translate(chinese, one.replaceAll(value, 'is required')) === null,
    )
    .map((one) => one.replaceAll(value, '7'));
}

test('every refusal that a page can show has a Chinese text', () => {
  const refusals = shown.flatMap(({ path, text }) => refusalsIn(path, text, value));
  expect(new Set(refusals).size).toBeGreaterThan(850);
  expect(shown.flatMap(({ path, text }) => missingIn(path, text))).toEqual([]);
});

test.each(forMachines)('%s is a source of refusals for machines: %s', (machine) => {
  const found = sources.filter(({ path }) => machine.test(path));
  expect(found.flatMap(({ path, text }) => missingIn(path, text))).not.toEqual([]);
});

test('a refusal that is not in the table is found', () => {
  const planted = `
    const why = 'the planted reason';
    export const kind = { noun: 'planted thing', taken: 'plant.name: another plant has it' };
    throw refusal('aborted', 'id: a planted refusal');
    throw invalidField('a', most > 1 ? \`is planted \${most} times\` : 'is planted ' + 'once');
    throw refusal('aborted', \`not now: \${why}\`);
    throw invalidField('a', 'is required');
    throw invalidField('a', \`\${text}\`);`;
  expect(missingIn('planted.ts', planted)).toEqual([
    'plant.name: another plant has it',
    'id: a planted refusal',
    'is planted 7 times',
    'is planted once',
    'not now: the planted reason',
  ]);
});
