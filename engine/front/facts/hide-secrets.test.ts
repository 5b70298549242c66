/** Holds events to hiding secrets in every place in which a match may show them. */

import { describe, expect, test } from 'vitest';
import { sampleMatch } from '../../../test/support/sample-event.ts';
import type { MatchedRule, MatchedVariable } from '../../contract/verdict.ts';
import { hideInMatches } from './hide-secrets.ts';

const secret = "Tr0ub4dor_3' or 1=1--";

function match(matched: readonly MatchedVariable[], data = '', message = ''): MatchedRule {
  return sampleMatch({ message, data, matched });
}

/** Nothing of the secret that is longer than three characters is left. */
function expectHidden(shown: unknown): void {
  const text = JSON.stringify(shown).toLowerCase();
  for (const part of ['tr0u', 'b4do', 'ub4d', 'r_3', "3' or"]) expect(text).not.toContain(part);
}

const found = (name: string, value: string): string => {
  return `Matched Data: ${value.slice(9, 14)} found within ${name}: ${value}`;
};

const places: readonly (readonly [name: string, value: string])[] = [
  ['ARGS:password', secret],
  ['ARGS_POST:user[newPassword]', secret],
  ['ARGS:json.login.secret', secret.toLowerCase()],
  ['ARGS_GET:api_key', secret],
  ['ARGS_RENAMED:api_key', secret],
  ['REQUEST_HEADERS_RENAMED:X-Api-Key', secret],
  ['REQUEST_HEADERS:Authorization', `Bearer ${secret}`],
  ['REQUEST_HEADERS:X-Api-Key', secret],
  ['REQUEST_COOKIES:auth_token', secret],
  ['REQUEST_HEADERS:Cookie', `a=1; auth_token=${secret}`],
  ['REQUEST_HEADERS:Referer', `https://a/?password=${secret}`],
  ['REQUEST_BODY', `user=a&password=${secret}`],
  ['REQUEST_BODY', `{"password":"${secret}","x":1}`],
  ['REQUEST_BODY', `<r><password>${secret}</password></r>`],
  ['REQUEST_BODY', `x --b\r\nContent-Disposition: form-data; name="pwd"\r\n\r\n${secret}\r\n--b--`],
  ['REQUEST_URI', `/?password=${secret}`],
  ['QUERY_STRING', `password=${encodeURIComponent(secret)}`],
  ['REQUEST_LINE', `GET /?password=${secret} HTTP/1.1`],
  ['ARGS_NAMES:x', `{"password":"${secret}"}`],
  [`ARGS_NAMES:{"password":"${secret}"}`, 'x'],
  ['ARGS_NAMES:x', `{"password":"${secret.slice(0, 12)}`],
  ['XML:/*', `a b ${secret} c`],
  ['MATCHED_VAR', secret.toUpperCase()],
  ['TX:1', secret.slice(4, 12)],
];

describe('a secret is shown nowhere', () => {
  test.each(places)('%s: %s', (name, value) => {
    const rule = match([{ name, value }], found(name, value), `m ${value}`);
    expectHidden(hideInMatches([rule], [secret]));
  });

  test.each(places.filter(([name]) => /^(?:REQUEST_BODY|QUERY|REQUEST_URI|ARGS_NAMES)/.test(name)))(
    'by its name alone, where no parser knows it: %s: %s',
    (name, value) => {
      const [shown] = hideInMatches([match([{ name, value }])], []);
      expectHidden(shown);
    },
  );

  test('what a chain matched of it', () => {
    const variables = [
      { name: 'ARGS:password', value: secret },
      { name: 'MATCHED_VAR', value: Buffer.from(secret).toString('hex') },
    ];
    const [shown] = hideInMatches([match(variables, found('MATCHED_VAR', secret))], [secret]);
    expectHidden(shown);
    expect(shown!.matched.map(({ value }) => value)).toEqual(['********', '********']);
    expect(shown!.data).toMatch(/^Matched Data: \*{8} found within MATCHED_VAR: \*+/);
  });
});

describe('what is no secret stays', () => {
  test.each([
    ['ARGS:q', "' or 1=1--"],
    ['ARGS:compass', 'north or south'],
    ['REQUEST_BODY', 'user=anna&q=union select'],
    ['REQUEST_HEADERS:User-Agent', 'sqlmap/1.0'],
    ['ARGS_NAMES:password', 'password'],
    ['REQUEST_URI', '/reset?lang=de'],
    ['ARGS:order', '1234567890123456'],
  ])('%s: %s', (name, value) => {
    const rule = match([{ name, value }], `Matched Data: x found within ${name}: ${value}`);
    expect(hideInMatches([rule], [secret])).toEqual([rule]);
  });

  test('an attack beside a secret that repeats its words', () => {
    const rule = match([{ name: 'ARGS:q', value: "x' union select 1" }]);
    const [shown] = hideInMatches([rule], ['union select', 'select 1 from']);
    expect(shown!.matched[0]!.value).toContain("x' ");
    expect(shown!.matched[0]!.value).toContain('1');
  });
});

test('card numbers are hidden under any name', () => {
  const numbers = ['4111111111111111', '5500 0000 0000 0004', '3400-0000-0000-009'];
  const rules = numbers.map((value) => match([{ name: 'ARGS:q', value: `n ${value}` }], value));
  for (const shown of hideInMatches(rules, [])) {
    expect(shown.matched[0]!.value).toBe('n ********');
    expect(shown.data).toBe('********');
  }
});
