/** Holds the names of secrets, and hiding their values in texts, to what clients write. */

import { describe, expect, test } from 'vitest';
import { isSecretName, isSecretVariable } from './secret-names.ts';
import { SecretParts } from './secret-parts.ts';
import { hideSecrets, secretsIn } from './secret-text.ts';

test.each(
  'password passwd pwd pass Pass newPassword user[password] json.user.passwd secret client_secret token csrf-token accessToken api_key apiKey X-Api-Key Authorization Proxy-Authorization card_number cardNumber cc_number cvv pin private_key passphrase user.pass'.split(
    ' ',
  ),
)('%s is a secret', (name) => expect(isSecretName(name)).toBe(true));

test.each(
  'compass passenger q user name bypass spinner author authority keyboard pancake company order_number cardinal opinion discard'.split(
    ' ',
  ),
)('%s is none', (name) => expect(isSecretName(name)).toBe(false));

test('variables', () => {
  for (const name of ['ARGS:pwd', 'args_get:Token', 'REQUEST_COOKIES:secret', 'FILES:token']) {
    expect(isSecretVariable(name)).toBe(true);
  }
  for (const name of ['ARGS_NAMES:pwd', '&ARGS:pwd', 'REQUEST_BODY', 'TX:token', 'ARGS:q']) {
    expect(isSecretVariable(name)).toBe(false);
  }
});

const star = '********';

describe('texts', () => {
  test.each([
    ['/?password=hunter2', `/?password=${star}`],
    ['/a?x=1&pass=hunter2&y=2', `/a?x=1&pass=${star}&y=2`],
    ['/?p%61ssword=hunter2', `/?p%61ssword=${star}`],
    ['/?x=%26password%3Dhunter2%26y', `/?x=%26password%3D${star}%26y`],
    ['/?d=%7B%22password%22%3A%22hunter2%22%7D', `/?d=%7B%22password%22%3A%22${star}%22%7D`],
    ['/?user[password]=hunter2', `/?user[password]=${star}`],
    ['/?user%5Bpassword%5D=hunter2', `/?user%5Bpassword%5D=${star}`],
    ['GET /?token=hunter2 HTTP/1.1', `GET /?token=${star} HTTP/1.1`],
    ['a=1; token=hunter2; b=2', `a=1; token=${star}; b=2`],
    ['password=hunter 2 and more', `password=${star}`],
    ['{"password": "hunter2"}', `{"password": "${star}"}`],
    ['{"password":"hun\\"ter2","x":1}', `{"password":"${star}","x":1}`],
    ['{"pin":1234,"x":1}', `{"pin":${star},"x":1}`],
    ['{"password":"hunter', `{"password":"${star}"`],
    ['{\\"password\\":\\"hunter2\\"}', `{\\"password\\":\\"${star}\\"}`],
    ["{'password':'hunter2'}", `{'password':'${star}'}`],
    ['<password>hunter2</password>', `<password>${star}</password>`],
    ['<ns:password a="b"><![CDATA[hunter2]]>', `<ns:password a="b">${star}`],
    ['<user password="hunter 2" x="y">', `<user password="${star}" x="y">`],
    ['Host: a\r\nAuthorization: Basic aHVudGVyMg==\r\n', `Host: a\r\nAuthorization: ${star}\r\n`],
    ['card 4111 1111 1111 1111 end', `card ${star} end`],
  ])('%s', (text, shown) => expect(hideSecrets(text)).toBe(shown));

  test.each([
    '/?compass=north',
    '{"user":"anna","q":"a=b"}',
    '<user>anna</user>',
    '/?number=1234567890123456',
    'tokens of the trade',
    '',
  ])('nothing in %s', (text) => expect(hideSecrets(text)).toBe(text));

  // A quadratic pattern takes minutes for these texts, and the time-out ends it.
  test.each([
    '\\',
    '"pin":\\"',
    '"pin":\\"\\',
    '"a',
    'a%3d',
    '%22',
    '%22a%2',
    '%26',
    ' token',
    "'token':",
    '<token',
    '<pin><![CDATA[',
    '\r\n\r\n',
    'name="',
    'name=+',
    `${'name=+'.repeat(80)}\n`,
    `${'name=pin+'.repeat(50)}\n`,
    'name="pin"\n\n',
    '&pin=',
    '\npin: ',
    '4 ',
  ])('%j again and again is read in one pass', (unit) => {
    const text = `pass ${unit.repeat(262_144 / unit.length)}`;
    expect(hideSecrets(text).length).toBeLessThanOrEqual(3 * text.length);
    expect(secretsIn(text, 64).length).toBeLessThanOrEqual(3 * 64);
  });

  test('a part of multipart under each name that its headers give', () => {
    const part = (head: string): string => `--b\r\n${head}\r\n\r\nhunter2\r\n--b--`;
    for (const head of [
      'Content-Disposition: form-data; name="pin"',
      'Content-Disposition: form-data; name="a"; name=pin; x',
      'Content-Disposition: form-data; name="pin"\r\nContent-Type: text/plain\r\nX: y',
    ]) {
      expect(secretsIn(part(head), 64)).toContain('hunter2');
      expect(hideSecrets(part(head))).toBe(part(head).replace('hunter2', star));
    }
    const far = `name="pin"${'\r\nX: y'.repeat(9)}`;
    expect(hideSecrets(part(far))).toBe(part(far));
  });
});

test('parts of a known secret', () => {
  const parts = new SecretParts(['Correct-Horse', 'abc']);
  expect(parts.hideWhole('x correct-horse y abc')).toBe(`x ${star} y abc`);
  expect(parts.hideParts('x rrect-Ho y')).toBe(`x ${star} y`);
  expect(parts.hideParts('corr')).toBe('corr');
  expect(new SecretParts([]).hideParts('anything')).toBe('anything');
});
