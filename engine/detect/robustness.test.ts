/**
 * Tests that what is around an attack does not hide it: each example that a strong detector finds
 * alone is put in prose, filler and encodings, as people who know the product would.
 */

import { describe, expect, test } from 'vitest';
import { fromByteString } from '../../base/byte-string.ts';
import { detect } from './detect.ts';
import { detectors } from './list.ts';
import { base64BytesMin } from './open/leaves.ts';

/** Detectors of all values; some look at uploads or at paths only. */
const strong = new Set(
  detectors.filter((one) => one.strong && one.variables === undefined).map(({ id }) => id),
);

/** Detectors that find something, those that one sign of is enough. */
function strongIn(text: string): readonly number[] {
  const { leaves } = detect([{ path: 'args.q', bytes: fromByteString(text) }]);
  return leaves.flatMap(({ hits }) => hits.map(({ id }) => id)).filter((id) => strong.has(id));
}

const prose = 'Thank you for the quick answer, we will look at it on Monday';
const filler = 'lorem ipsum dolor sit amet '.repeat(186);
const percent = (text: string): string =>
  [...text].map((char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
const entities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const json = (text: string): string => JSON.stringify({ id: 7, note: text });
const base64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64');

/** Payload in, value out. A payload of bytes that are no text in a form is left as it is. */
const forms: Readonly<Record<string, (text: string) => string>> = {
  'with prose before': (text) => `${prose} ${text}`,
  'with filler before': (text) => `${filler} ${text}`,
  'with prose behind': (text) => `${text} ${prose}`,
  'with filler behind': (text) => `${text} ${filler}`,
  'with filler in a string behind': (text) => `${text} ${filler}'-- -`,
  'in JSON': json,
  'in JSON in JSON': (text) => json(json(text)),
  'in base64': base64,
  'in base64 of JSON': (text) => base64(json(text)),
  'percent-encoded twice': (text) => percent(percent(text)),
  'in the query of a URL': (text) => `https://shop.example/p?a=1&q=${percent(text)}&z=2`,
  'in a form': (text) => `a=1&q=${percent(text)}&z=2`,
  'in a cookie': (text) => `a=1; q=${percent(text)}; z=2`,
  'in a part': (text) =>
    `--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n${text}\r\n--x--\r\n`,
  'in XML': (text) => `<?xml version="1.0"?><a><b>${entities(text)}</b></a>`,
  'in JSON that breaks off': (text) => `{"id":7,"note":${JSON.stringify(text)},"more":"ab`,
  'in a string that breaks off': (text) => `{"id":7,"note":${JSON.stringify(text).slice(0, -1)}`,
};

const all = [...new Set(detectors.flatMap(({ examples }) => examples.attacks))];
const payloads = all.filter((text) => strongIn(text).length > 0);

/** Whether a strong detector that finds something in a payload finds it in a form of it, too. */
function isFoundIn(payload: string, form: string): boolean {
  const found = strongIn(form);
  return strongIn(payload).some((id) => found.includes(id));
}

/** Paths prove an attack as a whole value only: people write about them. */
const wholeValues = [
  ...['/etc/passwd', '/proc/self/environ', 'c:\\windows\\win.ini', '/WEB-INF/web.xml'],
  ...[
    "admin'-- what else is there",
    'class.module.classLoader.x',
    'Basic cm9vdDp4DQp1c2VyPXJvb3QNCmhhc3Jvb3Q9MQ==',
  ],
];
/** What proves an attack as a whole value only: it is too short to prove one inside a text. */
const shortValues = [
  ...["'+'", "'-'", "'='", "'||user||'", "ad'||'min", '1 -false', '1 or true', 'admin)(&)'],
  ...['5) or not false -- ', 'phpinfo()', '../conf/data.properties', '../web.xml'],
  ...['../users.db.php', 'select @@servername', 'select user from dual'],
];
/** Queries of meta tables, as the whole of a short value. */
const queries = [
  'select sql from sqlite_master',
  'select table_name from information_schema.tables',
];
/** What proves one where the value begins. */
const beginnings = [
  ...['${alert(1)}', '*/alert(1)/*', '-prompt(document.domain)-', '1;alert(1)', "' like '%"],
  ...['..;a=b/x', 'echo md5("x");', 'cat /etc/passwd', 'cat /etc/shadow|head'],
  'a/../../x.ini\0',
];
/** A command alone in its line, and what is bound to the first bytes of a value. */
const behindBounds = [...['a\nuname -a', '"></title><img src=x>']];
/** What proves an attack by ending the value. */
const endings = [
  ...['127.0.0.1;id', 'user.password.$ne'],
  'Basic cm9vdDp4DQp1c2VyPXJvb3QNCmhhc3Jvb3Q9MQ==',
];
/** What is no proof any more, by form: lists to be made shorter. */
const lostIn: Readonly<Record<string, readonly string[]>> = {
  'with prose before': [
    ...[...wholeValues, ...shortValues, ...queries, ...beginnings],
    'a\nuname -a',
  ],
  'with filler before': [
    ...[...wholeValues, ...shortValues, ...queries, ...beginnings],
    ...behindBounds,
  ],
  'with prose behind': [...endings, ...shortValues],
  'with filler behind': [...endings, ...shortValues, ...queries],
  'with filler in a string behind': [...endings, ...shortValues, ...queries],
};

describe('an attack that is proved', () => {
  test('is one of many', () => {
    expect(payloads.length).toBeGreaterThan(150);
  });

  test.each(Object.entries(forms))('is proved %s', (name, form) => {
    const fit = name === 'in base64' ? payloads.filter(isLongEnough) : payloads;
    const lost = fit.filter((text) => !isFoundIn(text, form(text)));
    expect(lost.sort()).toEqual([...(lostIn[name] ?? [])].sort());
  });
});

/** Shorter base64 is not opened: words of texts decode to something as well. */
function isLongEnough(text: string): boolean {
  return base64(text).replaceAll('=', '').length >= base64BytesMin;
}
