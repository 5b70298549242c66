/** Tests what policies say of how far they inspect bodies, for all that can be set. */

import { expect, test } from 'vitest';
import { bodyInspectionOf } from './body-inspection.ts';
import { builtInTemplates } from './policy-templates.ts';

const observe = { requestBodyLimitAction: 'REQUEST_BODY_LIMIT_ACTION_OBSERVE' } as const;
const off = { requestBodyExcessAction: 'REQUEST_BODY_EXCESS_ACTION_OFF' } as const;

test.each([
  ['Light', 'blocks', '1073741824', /still blocks, to the end of the longest body/],
  ['Standard', 'refused', '65536', /longer ones get 413/],
  ['Strict', 'refused', '65536', /longer ones get 413/],
])('the template %s says how far it inspects bodies', (name, past, inspectedBytes, says) => {
  const template = builtInTemplates.find((one) => one.name === name);
  const expected = { limitBytes: '65536', past, inspectedBytes, bodyBytesMax: '1073741824' };
  expect(bodyInspectionOf(template)).toMatchObject(expected);
  expect(bodyInspectionOf(template)?.summary).toMatch(says);
});

test.each([
  ['OBSERVE alone', observe, 'records', '1114112', /not blocked, up to byte 1114112; the rest is/],
  [
    'a bound',
    { ...observe, requestBodyInspectionLimit: '70000' },
    'records',
    '70000',
    /up to byte 70000/,
  ],
  ['OFF', { ...observe, ...off }, 'forwarded', '65536', /the rest is forwarded uninspected/],
  [
    'the limit off',
    { ...observe, requestBodyLimitEnabled: false },
    'records',
    '5242880',
    /the first 4194304 bytes/,
  ],
])('settings name their numbers: %s', (_says, crsCore, past, inspectedBytes, says) => {
  const found = bodyInspectionOf({ crsCore });
  expect(found).toMatchObject({ past, inspectedBytes });
  expect(found?.summary).toMatch(says);
});

test('a policy that inspects nothing says nothing', () => {
  expect(bodyInspectionOf(undefined)).toBeNull();
  expect(bodyInspectionOf({ engineState: 'ENGINE_STATE_OFF' })).toBeNull();
  expect(bodyInspectionOf({ crsCore: { samplingPercentage: 0 } })).toBeNull();
});
