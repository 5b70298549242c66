/**
 * Proves that `waf policy update --file` and masks of the API change what is named, nothing else.
 */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { keepPrinted } from '../../../test/support/printed.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { inspectionFields } from '../../domain/policy/policy-mask.ts';
import { loadCommands } from '../commands.ts';
import { leafPaths } from '../leaf-paths.ts';
import { runCommandLine } from '../program.ts';

const commands = await loadCommands([]);
const folder = mkdtempSync(join(tmpdir(), 'waf-update-'));
let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
});
afterAll(() => waf.control.close());
beforeEach(() => void keepPrinted());
afterEach(() => vi.restoreAllMocks());

const settings = {
  crsCore: { blockingParanoiaLevel: 2, detectionParanoiaLevel: 3, reportingLevel: 0 },
  httpPolicy: {
    allowedMethods: ['GET', 'POST'],
    restrictedExtensions: ['.bak'],
    allowMethodOverrideParameter: true,
    requestBodyParseFailureAction: 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE',
  },
  argLimits: { maxNumArgs: 9, argLength: 400, maxFileSize: '1000' },
};

interface Policy {
  readonly id: string;
  readonly revision: string;
}

async function newPolicy(name: string): Promise<Policy> {
  const made = await waf.call('PolicyService/CreatePolicy', { policy: { name, ...settings } });
  return made.body['policy'] as Policy;
}

const read = async (id: string): Promise<object> =>
  (await waf.call('PolicyService/GetPolicy', { id })).body['policy'] as object;

const update = (id: string, yaml: string): Promise<number> => {
  const path = join(folder, 'change.yaml');
  writeFileSync(path, yaml);
  const line = ['policy', 'update', id, '--file', path, '--admin-socket', waf.socket];
  return runCommandLine(commands, line);
};

test('a file changes the values that it names; siblings stay', async () => {
  const { id } = await newPolicy('file');
  expect(await update(id, 'httpPolicy: { allowedMethods: [PUT] }')).toBe(0);
  const { httpPolicy } = settings;
  expect(await read(id)).toMatchObject({
    ...settings,
    httpPolicy: { ...httpPolicy, allowedMethods: ['PUT'] },
  });
  expect(await update(id, 'argLimits: { argLength: null }\nhttp_policy: {}')).toBe(0);
  const { argLength: _gone, ...rest } = settings.argLimits;
  const after = (await read(id)) as { argLimits: object };
  expect(after.argLimits).toEqual(rest);
  expect(after).toMatchObject({ httpPolicy: { restrictedExtensions: ['.bak'] } });
  expect(await update(id, 'httpPolicy: {}')).toBe(1);
});

test.each(
  Object.entries(inspectionFields).flatMap(([layer, fields]) =>
    Object.keys(fields).map((field) => [layer as keyof typeof settings, field] as const),
  ),
)('the mask %s.%s clears that field alone', async (layer, field) => {
  const { id, revision } = await newPolicy(`${layer} ${field}`);
  const snake = `${layer}.${field}`.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`);
  const change = { policy: { id, [layer]: {} }, revision, updateMask: snake };
  const { status, text } = await waf.call('PolicyService/UpdatePolicy', change);
  // The levels depend on each other; every other field may go alone.
  expect(status, text).toBe(200);
  const expected: Record<string, unknown> = { ...settings[layer] };
  delete expected[field];
  expect(((await read(id)) as typeof settings)[layer]).toEqual(expected);
  expect(await read(id)).toMatchObject({ ...settings, [layer]: expected });
});

test('paths of a document', () => {
  expect(leafPaths({ a: 1, b: { c: [{ d: 1 }], e: { f: null }, g: {} } })).toEqual([
    'a',
    'b.c',
    'b.e.f',
  ]);
});

test('flags change which score refuses, and from which score on; siblings stay', async () => {
  const { id } = await newPolicy('decision');
  const line = ['policy', 'update', id, '--decision', 'score-confirms', '--block-score', '60'];
  expect(await runCommandLine(commands, [...line, '--admin-socket', waf.socket])).toBe(0);
  expect(await read(id)).toMatchObject({
    crsCore: { ...settings.crsCore, decision: 'DECISION_SCORE_CONFIRMS', blockScore: 60 },
  });
});

test.each(['0', '101', 'high'])(
  'a score of %s is refused by the flag that gave it',
  async (score) => {
    const { id } = await newPolicy(`score ${score}`);
    const line = ['policy', 'update', id, '--block-score', score, '--admin-socket', waf.socket];
    expect(await runCommandLine(commands, line)).toBe(1);
    expect(await read(id)).toMatchObject({ crsCore: settings.crsCore });
  },
);
