/** Fields of W3C Trace Context, level 1: what is taken, and what counts as absent. */

import { expect, test } from 'vitest';
import { readTraceParent, readTraceState, traceLines } from './trace-context.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const span = 'b7ad6b7169203331';
const parent = (version: string, flags: string): string => `${version}-${trace}-${span}-${flags}`;

test.each([
  ['sampled', parent('00', '01'), true],
  ['not sampled', parent('00', '00'), false],
  ['flags that have no meaning yet', parent('00', 'fe'), false],
  ['all flags', parent('00', 'ff'), true],
  ['a later version', parent('cc', '01'), true],
  ['a later version with more parts', `${parent('cc', '01')}-what-comes.later`, true],
])('%s is taken', (_name, value, sampled) => {
  expect(readTraceParent(value)).toEqual({ traceId: trace, spanId: span, sampled });
});

test.each([
  ['nothing', ''],
  ['the version that cannot be', parent('ff', '01')],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${span}-01`],
  ['a span of zeros', `00-${trace}-${'0'.repeat(16)}-01`],
  ['capital letters in the trace', `00-${trace.toUpperCase()}-${span}-01`],
  ['capital letters in the span', `00-${trace}-${span.toUpperCase()}-01`],
  ['capital letters in the flags', parent('00', 'FF')],
  ['capital letters in the version', parent('CC', '01')],
  ['version 00 with more parts', `${parent('00', '01')}-more`],
  ['version 00 with a mark at its end', `${parent('00', '01')}-`],
  ['a later version with more and no mark before it', `${parent('cc', '01')}more`],
  ['a short trace', `00-${trace.slice(1)}-${span}-01`],
  ['a long span', `00-${trace}-${span}0-01`],
  ['short flags', parent('00', '1')],
  ['no flags', `00-${trace}-${span}`],
  ['another mark', parent('00', '01').replaceAll('-', '_')],
  ['blanks before', ` ${parent('00', '01')}`],
  ['two in one field', `${parent('00', '01')},${parent('00', '01')}`],
  ['letters that are no digits', `00-${'g'.repeat(32)}-${span}-01`],
  ['bytes beyond ASCII', `00-${trace}-${span}-0\xb9`],
])('%s counts as absent', (_name, value) => {
  expect(readTraceParent(value)).toBeNull();
});

const members = (count: number): string =>
  Array.from({ length: count }, (_, at) => `k${at}=v`).join(',');

test.each([
  ['one member', ['rojo=00f067aa0ba902b7'], 'rojo=00f067aa0ba902b7'],
  ['several fields, in their order', ['rojo=1', 'congo=2, a=3'], 'rojo=1,congo=2,a=3'],
  ['blanks and empty members', [' rojo=1\t,,\t congo=2 , '], 'rojo=1,congo=2'],
  ['a tenant at a vendor', ['0t_-*/@v-*/_=x'], '0t_-*/@v-*/_=x'],
  ['a value with blanks inside', ['a=b c'], 'a=b c'],
  ['as many members as there may be', [members(32)], members(32)],
  ['the longest key', [`${'z'.repeat(256)}=1`], `${'z'.repeat(256)}=1`],
  ['the longest value', [`a=${'v'.repeat(256)}`], `a=${'v'.repeat(256)}`],
])('a state: %s', (_name, values, state) => {
  expect(readTraceState(values)).toBe(state);
});

test.each([
  ['none', []],
  ['one member too many', [members(33)]],
  ['a key that is there twice', ['a=1,b=2,a=3']],
  ['a key that is there twice, in two fields', ['a=1', 'a=2']],
  ['no value', ['a=']],
  ['no equals sign', ['a']],
  ['a key in capital letters', ['A=1']],
  ['a key that begins with a digit', ['1a=1']],
  ['a key with a blank', ['a =1']],
  ['a tenant without a vendor', ['a@=1']],
  ['a vendor without a tenant', ['@a=1']],
  ['two vendors', ['a@b@c=1']],
  ['a vendor that is too long', [`a@${'v'.repeat(15)}=1`]],
  ['a key that is too long', [`${'z'.repeat(257)}=1`]],
  ['a value that is too long', [`a=${'v'.repeat(257)}`]],
  ['an equals sign in the value', ['a=b=c']],
  ['bytes beyond ASCII', ['a=\xe9']],
  ['a tab inside', ['a=b\tc']],
  ['more bytes than are read', [`a=${'v'.repeat(200)},${members(31)}`, 'x'.repeat(2_048)]],
])('a state of %s counts as absent', (_name, values) => {
  expect(readTraceState(values)).toBe('');
});

test('what is written has version 00 and no flag but one', () => {
  const context = { traceId: trace, spanId: span, sampled: true };
  expect(traceLines(context, '')).toBe(`traceparent: ${parent('00', '01')}\r\n`);
  expect(traceLines({ ...context, sampled: false }, 'a=1')).toBe(
    `traceparent: ${parent('00', '00')}\r\ntracestate: a=1\r\n`,
  );
});
