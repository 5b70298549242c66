/** Tests what values open to, and that opening is bounded. */

import { createCipheriv } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { decodeUtf8 } from '../../../base/byte-string.ts';
import { detectLimits } from '../../base/detect-limits.ts';
import { scanText } from '../leaf-scan.ts';
import { detect, detectText } from '../detect.ts';
import { pathOf } from '../detector.ts';
import { newBudget } from './leaves.ts';
import { openValue } from './open.ts';
import { soaks } from '../../../test/support/soak.ts';

const open = (text: string, path = 'value') => {
  scanText(text);
  return openValue(text, path, newBudget(text.length));
};
const leavesOf = (text: string): Record<string, string> =>
  Object.fromEntries(open(text).map((leaf) => [decodeUtf8(pathOf(leaf)), leaf.text]));
const base64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64');
const attack = "' union select 1,2,3 -- ";
const overlong = '..\xc0\xaf..\xc0\xafetc\xc0\xafpasswd';
const json = JSON.stringify({ user: { name: attack } });

describe('values are opened', () => {
  test.each([
    ['JSON', json, 'value → json.user.name', attack],
    ['JSON that breaks off', json.slice(0, -2), 'value → json.user.name', attack],
    ['a string that breaks off', json.slice(0, -3), 'value → json', attack],
    ['escapes in JSON', '{"a":"\\u0027 or"}', 'value → json.a', "' or"],
    ['a name in JSON', '{"$where":1}', 'value → json name', '$where'],
    ['text after JSON', '{"a":1} or 1=1', 'value → json', 'or 1=1'],
    ['a form', 'a=1&b=x%27+y', 'value → form.b', "x' y"],
    ['percent signs twice', '%2527xyz', 'value → percent → percent', "'xyz"],
    ["IIS's code points", '%u0027xyz', 'value → percent', "'xyz"],
    ['plus signs', '+union+select+1', 'value → plus signs', ' union select 1'],
    ['escapes of line ends', '\\n/bin/id\\n', 'value → escapes', '\n/bin/id\n'],
    ['entities', '&#x3c;b&gt;', 'value → entities', '<b>'],
    ['quoted markup', '<code>&lt;b&gt;</code>&lt;', 'value → entities', '<code></code><'],
    [
      'quoted markup that acts',
      '<code>&lt;b onclick=a&gt;</code>',
      'value → entities',
      '<code><b onclick=a></code>',
    ],
    ['base64', base64(attack), 'value → base64', attack],
    ['a few bytes in padded base64', base64(';id;'), 'value → base64', ';id;'],
    ['base64 of overlong forms', base64(overlong), 'value → base64', overlong],
    ['base64 in a text', `data ${base64(attack)} end`, 'value → base64', attack],
    ['base64 of JSON', base64(json), 'value → base64 → json.user.name', attack],
    [
      'a part that prints',
      base64(`\xff\xfe\x80${attack}`),
      'value → base64',
      `\xff\xfe\x80${attack}`,
    ],
    ['a query', 'https://a.example/b?q=x%27+y', 'value → query.q', "x' y"],
    ['a fragment', '/b?c#x%27yz', 'value → fragment', "x'yz"],
    ['cookies', "a=1; b=x'yz", 'value → cookies.b', "x'yz"],
    ['XML', '<?xml version="1.0"?><a b="&apos;x">y &lt;</a>', 'value → xml', 'y <'],
    ['credentials', `Basic ${base64("o'n:p")}`, 'value → credentials', "o'n:p"],
    ['overlong UTF-8', '..\xc0\xafx', 'value → utf-8', '../x'],
    ['other forms of paths', '..\xc0%9vx', 'value → path forms', '../x'],
    [
      'parts',
      `--b\r\ncontent-disposition: form-data; name="f"\r\n\r\n${attack}\r\n--b--`,
      'value → part.f',
      attack.trimEnd(),
    ],
    [
      'parts of any type',
      `--b\nContent-Type: text/plain\n\n${attack}\n--b--`,
      'value → part',
      attack.trimEnd(),
    ],
    ['a part without a head', `--b\r\n\r\n${attack}\r\n--b--`, 'value → part', attack.trimEnd()],
    ['seven bits', '\xbca\xbe x', 'value → US-ASCII', '<a> x'],
    [
      'a token',
      `eyJhbGciOiJub25lIn0.${Buffer.from(json).toString('base64url')}.x`,
      'value → token claims → json.user.name',
      attack,
    ],
  ])('%s', (_name, text, path, expected) => {
    expect(leavesOf(text)[path]).toBe(expected);
  });

  test('the path of a leaf names every step', () => {
    const text = JSON.stringify({ a: base64(`q=${encodeURIComponent(attack)}&r=1`) });
    const paths = detectText(text, 'args.data').map(({ path }) => decodeUtf8(path));
    expect(paths).toContain('args.data → json.a → base64 → form.q');
  });
});

test('brackets of program text hide nothing, though they begin as JSON does', () => {
  const text = `[]["constructor"]["constructor"]("x")()`;
  expect(detectText(text).flatMap(({ hits }) => hits.map(({ id }) => id))).toContain(198_433);
  expect(open('{"a":1}\n{"b":2}')[0]!.kind).toBe('document');
});

test('names are searched even where they have letters and dots only', () => {
  const bytes = Buffer.from('a.__proto__.b');
  const idsOf = (isName: boolean) =>
    detect([{ path: 'a', bytes, isName }]).leaves.flatMap(({ hits }) => hits.map(({ id }) => id));
  expect([idsOf(true), idsOf(false)]).toEqual([[198_520], []]);
});

/** Ids of what is found in a JSON text of these strings, and whether all of it was opened. */
function foundIn(strings: readonly string[]): { ids: number[]; complete: boolean } {
  const bytes = Buffer.from(JSON.stringify(strings));
  const { leaves, complete } = detect([{ path: 'args.q', bytes }]);
  return { ids: leaves.flatMap(({ hits }) => hits.map(({ id }) => id)), complete };
}

describe('nothing that stands before an attack hides it', () => {
  const numbered = (text: (at: number) => string) =>
    Array.from({ length: 1_500 }, (_, at) => text(at));
  const runs = Array.from({ length: 40 }, (_, at) => base64(`harmless text ${at}`)).join(' ');
  const part = (text: string): string => `--b\r\ncontent-type: text/plain\r\n\r\n${text}\r\n`;
  test.each([
    ['fields', `${numbered((at) => `a${at}=b+c`).join('&')}&z=${encodeURIComponent(attack)}`],
    ['a text before fields', `hello & you&z=${encodeURIComponent(attack)}`],
    ['runs of base64', `${runs} ${base64(attack)}`],
    ['parts', `${part('a b').repeat(100)}${part(attack)}--b--`],
    ['random bytes', `${'\x01\x02\xff\0'.repeat(100)}${attack}\x03`],
    ['random bytes, with NUL in it', `${'\x01\xff'.repeat(200)}${attack.split('').join('\0')}`],
  ])('%s', (_, text) => {
    const id = detectText(attack)[0]!.hits[0]!.id;
    for (const isData of [false, true]) {
      const { leaves } = detect([{ path: 'v', bytes: Buffer.from(text, 'latin1'), isData }]);
      expect(leaves.flatMap(({ hits }) => hits.map((hit) => hit.id))).toContain(id);
    }
  });

  test.each(["' or 1=1-- ", "'\x0bor\x0b1=1#", '|id', '{{7*7}}'])(
    'control bytes around %j in a field',
    (short) => {
      const ids = (text: string) =>
        detectText(text).flatMap(({ hits }) => hits.map(({ id }) => id));
      const padding = '\x02\x7f'.repeat(300);
      expect(ids(short).length).toBeGreaterThan(0);
      expect(ids(`${padding}a${short}`).length).toBeGreaterThan(0);
    },
  );
});

describe('random bytes', () => {
  /** The same random bytes every time: the key stream of a cipher. */
  const stream = createCipheriv('aes-128-ctr', Buffer.alloc(16, 7), Buffer.alloc(16));
  const random = (bytes: number): Buffer => stream.update(Buffer.alloc(bytes));

  test('16 MB of a body show no attack and are opened little', () => {
    for (let window = 0; window < 256; window++) {
      const { leaves, complete } = detect([{ path: 'body', bytes: random(65_536), isData: true }]);
      expect(leaves).toEqual([]);
      expect(complete).toBe(true);
    }
  });

  test.each([
    ['a short stretch in much data is chance', 'zxcvbnm,;id;abcd', 20_000, false],
    ['in little data it is text', 'zxcvbnm,;id;abcd', 600, true],
    ['a longer one is text', 'zxcvbnm,;id;abcdefghijkl', 20_000, true],
    ['a short program is text', '<?=`$_GET[1]`?>;', 20_000, true],
  ])('%s', (_name, text, size, found) => {
    const bytes = Buffer.concat([random(size), Buffer.from(`\x01${text}\x01`), random(600)]);
    expect(detect([{ path: 'body', bytes, isData: true }]).leaves.length > 0).toBe(found);
  });
});

test('only browsers drop the eighth bit', () => {
  const labels = (text: string): string[] => detectText(text).map(({ path }) => decodeUtf8(path));
  expect(labels('\xbcscript\xbealert(1)\xbc/script\xbe')).toContain('value → US-ASCII');
  expect(labels('\xbca href=javascript&colon;alert(1)\xbe')).toContain(
    'value → entities → US-ASCII',
  );
  expect(labels('a\xbc\xbbid\xbb')).toEqual([]);
});

test('readings that follow each other are opened once', () => {
  const text = '\xc0\xaf%26#x5c;%c0%af&lt;\\u0041 '.repeat(20);
  const texts = open(text).map((leaf) => leaf.text);
  expect(texts.length).toBeLessThan(64);
});

describe('opening is bounded', () => {
  test('what a bound leaves out is looked for in the text, and the bound is reported', () => {
    const alone = foundIn([attack]);
    expect(alone.complete).toBe(true);
    expect(alone.ids.length).toBeGreaterThan(0);
    const many = Array.from({ length: 3_000 }, (_, at) => `a b ${at}`);
    const hidden = foundIn([...many, attack]);
    expect(hidden.complete).toBe(false);
    expect(hidden.ids).toEqual(expect.arrayContaining(alone.ids.slice(0, 1)));
    let deep = attack;
    for (let depth = 0; depth < 8; depth++) deep = base64(deep);
    expect(foundIn([deep]).complete).toBe(false);
  });

  test('no number of hits hides the next one', () => {
    const many = 'union select a from b; '.repeat(200);
    const { length } = many + attack;
    const [leaf] = detectText(many + attack);
    const whole = leaf!.hits.filter(({ start, end }) => start === 0 && end === length);
    expect(whole.length).toBeGreaterThan(0);
  });

  test('in depth', () => {
    let text = attack;
    for (let depth = 0; depth < 20; depth++) text = base64(text);
    expect(Math.max(...open(text).map(({ depth }) => depth))).toBe(detectLimits.depthMax);
  });

  test('in leaves', () => {
    const text = JSON.stringify(Array.from({ length: 5_000 }, (_, at) => `a b ${at}`));
    expect(open(text).length).toBe(detectLimits.leavesMax + 1);
  });

  test('in bytes', () => {
    const text = JSON.stringify(Array.from({ length: 9 }, () => 'a b'.repeat(200_000)));
    const bytes = open(text)
      .slice(1)
      .reduce((sum, leaf) => sum + leaf.text.length, 0);
    expect(bytes).toBeGreaterThan(1_000_000);
    expect(bytes).toBeLessThanOrEqual(detectLimits.leafBytesMax);
  });
});

test('no bytes make opening or searching fail', () => {
  const pieces = fc.constantFrom(
    ...[
      '{"',
      '":',
      '[',
      ']',
      '}',
      '\\u00',
      '\\',
      '%u',
      '%2',
      '&#',
      ';',
      '<?xml ',
      '<a b="',
      '<![CDATA[',
    ],
    ...[
      'eyJh',
      'Basic ',
      'a=1&',
      '; b=',
      '--b\r\n',
      '\xc0',
      '\xe0\x80',
      '://',
      '?',
      '#',
      'QUJD',
      ' or ',
    ],
    ...['$(', '`', '|id', '../', '<script', "'", '${jndi:', '{{7*7', '\0', 'select ', '1=1'],
  );
  const texts = fc.array(fc.oneof(pieces, fc.string({ maxLength: 6 })), { maxLength: 60 });
  fc.assert(
    fc.property(texts, (list) => {
      const text = Buffer.from(list.join('')).toString('latin1');
      for (const { hits, bytes } of detectText(text)) {
        for (const { start, end } of hits) {
          expect(start >= 0 && start <= end && end <= bytes.length).toBe(true);
        }
      }
    }),
    { numRuns: soaks ? 1_000_000 : 1_000 },
  );
});
