/** Tests the judging of forms: payloads by class and seed, and what each form loses. */

import { expect, test } from 'vitest';
import { attackForms } from './attack-forms.ts';
import { parseRequest } from './requests.ts';
import { formsTable, judgeForms, samplePayloads } from './robust.ts';
import { requestWith } from './value-request.ts';

const request = (at: number, query: string, attack = true) => ({
  ...{ id: `${at}`, attack, kind: 'k', source: 's', group: '' },
  wire: Buffer.from(`GET /?${query} HTTP/1.1\r\nHost: a\r\n\r\n`),
});

test('the payload of an attack is its longest argument, decoded; each one once', () => {
  const requests = [
    ...[request(1, 'a=1&p=x%27+y'), request(2, 'p=x%27+y'), request(3, 'p=other')],
    request(4, 'p=benign', false),
  ];
  const payloads = samplePayloads(requests, 9, 1);
  expect(payloads.map(({ text }) => text).sort()).toEqual(['other', "x' y"]);
  expect(samplePayloads(requests, 1, 1)).toHaveLength(1);
  expect(samplePayloads(requests, 1, 1)).toEqual(samplePayloads(requests, 1, 1));
});

test('a value is sent as a field of a form, byte for byte', () => {
  const { body } = parseRequest(requestWith("a'\xff"))!;
  expect(Buffer.from(body!.bytes).toString('latin1')).toBe('q=%61%27%ff');
});

test('figures count what is refused alone and in a form', () => {
  const payloads = ['bad one', 'bad two', 'good'].map((text) => ({ kind: 'k', text }));
  const forms = { same: (text: string) => text, cut: (text: string) => text.slice(4) };
  const figures = judgeForms(payloads, forms, (value) => value.startsWith('bad'));
  expect(figures.map(({ refused, count }) => [refused, count])).toEqual([
    [2, 2],
    [0, 2],
  ]);
  expect(figures[1]!.lost.map(({ text }) => text)).toEqual(['bad one', 'bad two']);
  expect(formsTable(figures)).toMatch(/\| same \| 2 \| 100\.0 %/);
  expect(Object.keys(attackForms)).toHaveLength(17);
});
