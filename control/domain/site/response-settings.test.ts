/** Block pages of the deployment and of single sites: what is taken, and what nodes get. */

import { expect, test } from 'vitest';
import { checkResponses, responsesJson, responsesKey } from './response-settings.ts';

const page = (body: string): object => ({ body, contentType: 'text/html' });
const blocked = { statusCode: 406, title: 'No', message: 'Not here.' };

test.each<[string, unknown, RegExp]>([
  ['an unknown key', { site: {} }, /Allowed: templates, scenarios, sites/],
  ['an unknown key of a site', { sites: { 'a.test': { sites: {} } } }, /sites\.a\.test: Unknown/],
  ['a host in capitals', { sites: { 'A.test': {} } }, /must name hosts in lower case/],
  ['what is no host', { sites: { 'http://a.test': {} } }, /without a scheme/],
  [
    'a status of a site that is no refusal',
    { sites: { 'a.test': { scenarios: { waf_block: { ...blocked, statusCode: 200 } } } } },
    /sites\.a\.test\.scenarios\.waf_block\.statusCode: must be between 400 and 599/,
  ],
  [
    'a page that nobody wrote',
    { sites: { 'a.test': { templates: { active: 'custom' } } } },
    /sites\.a\.test\.templates\.custom: is required/,
  ],
])('%s is refused', (_name, value, why) => {
  expect(() => checkResponses(value, responsesKey)).toThrow(why);
});

test('a site may use the custom page of the deployment', () => {
  const sites = { 'a.test': { templates: { active: 'custom' } } };
  expect(() =>
    checkResponses({ templates: { custom: page('x') }, sites }, responsesKey),
  ).not.toThrow();
});

test('what a site does not state is as for the deployment', () => {
  const config = {
    templates: { active: 'html', html: page('all') },
    scenarios: { ip_deny: blocked },
    sites: { 'a.test': { templates: { html: page('a') }, scenarios: { waf_block: blocked } } },
  };
  expect(JSON.parse(responsesJson({ [responsesKey]: config }))).toEqual({
    active: 'html',
    templates: { html: page('all') },
    scenarios: { ip_deny: blocked },
    sites: {
      'a.test': {
        active: 'html',
        templates: { html: page('a') },
        scenarios: { ip_deny: blocked, waf_block: blocked },
      },
    },
  });
  expect(responsesJson({ [responsesKey]: {} })).toBe('');
  expect(responsesJson({})).toBe('');
});
