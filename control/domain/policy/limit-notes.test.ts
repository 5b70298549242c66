/** Tests that every limit a request can meet is named with its value and the command for it. */

import { fromJson } from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';
import { expect, test } from 'vitest';
import { PolicySchema, type PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { inspectionLimitNames } from '../../../engine/rules/transaction/inspection-limits.ts';
import { limitNotes } from './limit-notes.ts';
import { builtInTemplates } from './policy-templates.ts';

const named = (name: string): PolicyJson => builtInTemplates.find((one) => one.name === name)!;
const light = named('Light');
const standard = named('Standard');
/** Values of argument limits that cannot be doubled. */
const argumentMosts = {
  maxNumArgs: 999_999,
  argNameLength: 9_999_999,
  argLength: 99_999_999,
  totalArgLength: 999_999_999,
  maxFileSize: '999999999999',
  combinedFileSizes: '999999999999',
};

test.each([
  ['head_too_large', /65536 bytes; no setting/],
  ['too_many_fields', /200 header fields; no setting/],
  ['target_too_long', /16384 bytes; no setting/],
  ['body_too_large', /1073741824 bytes; no setting/],
])('a refusal names its fixed limit: %s', (refusal, says) => {
  expect(limitNotes({ raw: { refusal } }, undefined)).toEqual([expect.stringMatching(says)]);
});

test('a body that is refused names the limits that may have been met, with the commands', () => {
  const event = { raw: { refusal: 'body_over_inspection_limit' } };
  const uploads =
    'A multipart body may have 13172736 bytes: change it with ' +
    "echo 'argLimits: {combinedFileSizes: 26214400}' | waf policy update ";
  expect(limitNotes(event, light)).toEqual([`${uploads}template-light --file -`]);
  expect(limitNotes(event, standard)).toEqual([
    'A body that is not multipart may have 65536 bytes: change it with ' +
      "echo 'crsCore: {requestBodyLimit: 131072}' | waf policy update template-standard --file -",
    `${uploads}template-standard --file -`,
  ]);
});

test('the limit for a body whose length is known lets it pass', () => {
  const event = { raw: { refusal: 'body_over_inspection_limit' } };
  const [note] = limitNotes(event, light, 80_000_000);
  expect(note).toContain('{combinedFileSizes: 104857600}');
  const [plain, uploads] = limitNotes(event, standard, 3_000_000);
  expect(plain).toContain('{requestBodyLimit: 4194304}');
  expect(uploads).toContain('{combinedFileSizes: 26214400}');
});

test('no command sets a limit larger than it can be', () => {
  const validator = createValidator();
  const stated = { raw: { refusal: 'body_over_inspection_limit' } };
  const most = { requestBodyLimit: '4194304', combinedFileSizes: '1000000000000' };
  for (const [value, says] of [
    [1, /\{requestBodyLimit: 4194304\}.*\{combinedFileSizes: 1000000000000\}/s],
    [0, /no larger crsCore.requestBodyLimit.*no larger argLimits.combinedFileSizes/s],
  ] as const) {
    const less = (text: string): string => String(Number(text) - value);
    const crsCore = { ...standard.crsCore, requestBodyLimit: less(most.requestBodyLimit) };
    const argLimits = { ...standard.argLimits, combinedFileSizes: less(most.combinedFileSizes) };
    const notes = limitNotes(stated, { ...standard, crsCore, argLimits }, 900_000_000_000);
    expect(notes.join('\n')).toMatch(says);
  }
  for (const ruleId of ['199100', '199101', '199102', '199103', '199104', '199105']) {
    const argLimits = { ...standard.argLimits, ...argumentMosts };
    const told = limitNotes({ messages: [{ ruleId }] }, { ...standard, argLimits }).join();
    const [, name = '', value = ''] = /\{(\w+): (\d+)\}/.exec(told) ?? [];
    const policy = fromJson(PolicySchema, { name: 'a', argLimits: { [name]: value } });
    expect([name, validator.validate(PolicySchema, policy).kind]).toEqual([name, 'valid']);
    const over = fromJson(PolicySchema, {
      name: 'a',
      argLimits: { [name]: String(Number(value) + 1) },
    });
    expect([name, validator.validate(PolicySchema, over).kind]).toEqual([name, 'invalid']);
  }
});

test.each([
  ['199100', 'maxNumArgs, 1000'],
  ['199101', 'argNameLength, 256'],
  ['199102', 'argLength, 32000'],
  ['199103', 'totalArgLength, 64000'],
  ['199104', 'maxFileSize, 500'],
  ['199105', 'combinedFileSizes, 13107200'],
  ['920360', 'argNameLength, 256'],
  ['920370', 'argLength, 32000'],
  ['920380', 'maxNumArgs, 1000'],
  ['920390', 'totalArgLength, 64000'],
])('rule %s names its setting and value', (ruleId, says) => {
  const policy = { ...standard, argLimits: { ...standard.argLimits, maxFileSize: '500' } };
  const [note] = limitNotes({ messages: [{ ruleId }] }, policy);
  expect(note).toContain(`argLimits.${says}: change it with echo 'argLimits: {`);
});

test.each([
  ['199400', 'longer than the 65536 bytes that decide as a whole'],
  ['199404', 'Fields of a multipart body may have 1114112 bytes'],
])('rule %s names the budget of bodies', (ruleId, says) => {
  const [note] = limitNotes({ messages: [{ ruleId }] }, light);
  expect(note).toContain(says);
  expect(note).toContain('crsCore: {requestBodyLimit: 131072}');
});

test('the end of inspection is named with the bytes after it', () => {
  const raw = { limitsReached: ['body-bytes'], uninspectedBytes: 77 };
  const crsCore = { ...light.crsCore, requestBodyInspectionLimit: '100000' };
  const [note] = limitNotes({ raw }, { ...light, crsCore });
  expect(note).toMatch(
    /^77 bytes of the body were not inspected: inspection ends at byte 100000\./,
  );
  expect(note).toContain('crsCore: {requestBodyInspectionLimit: 200000}');
});

test('every limit of inspection is named, and what its action does', () => {
  for (const limit of inspectionLimitNames) {
    if (limit === 'body-bytes') continue;
    const raw = { limitsReached: [limit] };
    expect(limitNotes({ raw }, light)[0]).toContain(`the limit ${limit}`);
    const [refused] = limitNotes({ raw }, standard);
    expect(refused).toContain('argumentLimitAction: ARGUMENT_LIMIT_ACTION_OBSERVE');
  }
});
