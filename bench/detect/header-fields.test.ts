/** Tests that header fields are judged as arguments are, and that their own languages pass. */

import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { scoreOf } from './figures.ts';
import { observe } from './observe.ts';
import { buildJudgedPolicy } from './policy.ts';

const { engine } = buildJudgedPolicy({
  ...{ template: 'Light', ruleset: 'none', crs4: '', cacheFolder: '.cache' },
});
const { detection } = engine.scoring!;

afterAll(() => engine.retire());

interface Field {
  readonly field: string;
  readonly value: string;
}

function refuses({ field, value }: Field): boolean {
  const agent = field === 'User-Agent' ? [] : ['User-Agent: Mozilla/5.0'];
  const head = ['GET /a HTTP/1.1', 'Host: shop.example', ...agent, `${field}: ${value}`];
  const wire = Buffer.from(`${head.join('\r\n')}\r\n\r\n`);
  const request = { id: 'h', attack: true, kind: '', source: '', group: '', wire };
  return scoreOf(observe(engine, request), detection) >= detection.weights.thresholds.block;
}

const ordinary = readFileSync('test/detect/ordinary-fields.jsonl', 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Field);

test('fields of ordinary clients pass', () => {
  expect(ordinary.length).toBeGreaterThan(200);
  expect(ordinary.filter(refuses)).toEqual([]);
});

/** Without any of the bytes that fields of lists do not hold, apart from the last ones. */
const attacks = [
  ...['1 or 1=1', '1;drop table users', '-1 union all select null,null,version()-- -'],
  ...['(select(0)from(select(sleep(6)))v)', '1)) or pg_sleep(5)--', '1;select 1 from users--'],
  ...[';id', '127.0.0.1;whoami', '; cat /etc/passwd', '& ping -n 5 127.0.0.1 &', ';sleep 5'],
  ...['../../../../etc/passwd', '/etc/passwd', 'file:///etc/passwd', 'php://input'],
  ...[
    'javascript:alert(1)',
    '" onmouseover="alert(1)',
    'phpinfo()',
    '!!python/object/apply:os.system',
  ],
  ...['http://169.254.169.254/latest/meta-data/', 'gopher://127.0.0.1:6379/_FLUSHALL'],
  ...[
    '*)(objectClass=*',
    '__proto__[isAdmin]=1',
    '<script>alert(1)</script>',
    '${jndi:ldap://e/a}',
  ],
];
/** They are attacks as whole values only, in arguments, too. */
const alone = new Set(['/etc/passwd', 'phpinfo()', '__proto__[isAdmin]=1']);
const fields = ['User-Agent', 'X-Forwarded-For', 'X-Real-IP', 'X-Api-Version', 'X-Original-URL'];

test.each(fields)('attacks in %s are refused', (field) => {
  expect(attacks.filter((value) => !refuses({ field, value }))).toEqual([]);
  // After what such a field holds.
  const after = attacks
    .filter((value) => !alone.has(value))
    .map((value) => `Mozilla/5.0 (X11; Linux x86_64) Gecko/1 ${value}`);
  expect(after.filter((value) => !refuses({ field, value }))).toEqual([]);
});

test.each([
  ['Accept-Language', '../../../../etc/passwd'],
  ['Accept-Language', '/etc/passwd'],
  ['Accept-Encoding', '1) or pg_sleep(5)--'],
  ['Accept', '(select(0)from(select(sleep(6)))v)'],
  ['X-Data', Buffer.from('cat /etc/passwd; id').toString('base64url')],
  ['Cookie', "1' or '1'='1=a"],
  ['Cookie', '<script>alert(1)</script>=1'],
])('an attack in %s is refused: %s', (field, value) => {
  expect(refuses({ field, value })).toBe(true);
});

test('a comment of User-Agent hides no command that a shell would run', () => {
  const field = 'User-Agent';
  const languages = 'a/1 (Windows NT 5.1; id; rv:1)';
  const harmless = [languages, 'a/1 (Linux; PHP 8; cURL 7.81.0; CI)'];
  expect(harmless.filter((value) => refuses({ field, value }))).toEqual([]);
  for (const value of [
    ...['a/1 (X11; cat /etc/passwd; id)', 'a/1 (X11); id', 'a/1 (X11; U";id;")', "a/1 (a';id;')"],
    ...[
      'a/1 (X11; $(cat /etc/passwd))',
      'a/1 (X11; `cat /etc/passwd`)',
      'a/1 (X11 | id; b)',
      '(; id;',
    ],
  ]) {
    expect(refuses({ field, value }), value).toBe(true);
  }
  expect(refuses({ field: 'X-Note', value: languages })).toBe(true);
});
