/** Harmless requests that rules take for attacks, each under a path of its own. */

import type { DescribedCase } from './described-case.ts';

/** One of them. */
export interface FalsePositive {
  readonly request: DescribedCase;
  readonly path: string;
  /** Where its text stands. */
  readonly place: (text: string, path: string, title: string) => DescribedCase;
  /** The text; '' for a request of a corpus. */
  readonly text: string;
}

/** What people write about computers, prices and SQL. */
const texts = [
  "Robert's note: 1 or 1=1 is always true, says the lesson",
  'select the best offer from our catalog where the price is low',
  "' or 'a'='a is the example of chapter four",
  'union select committee votes on the budget',
  'Please drop table lamp 4; and a chair -- thanks',
  'The <script> element is explained in chapter 4',
  'See ../../docs/readme.txt for details',
  'The manual describes the file /etc/passwd',
  'exec xp_cmdshell is a stored procedure, says the article',
  'Use wget http://files.example/list and then curl it',
  'first; cat /etc/hosts && ls -la, says the tutorial',
  'a link with javascript:alert(1) is bad style',
  'sleep(5) waits for five seconds in SQL',
  'php://input is a stream, see the manual',
  "<?php echo 'hello'; ?> is the first lesson",
  '${jndi:ldap://x.example/a} is what the news wrote about',
  'benchmark(1000000,md5(1)) measures a database',
  '<img src=x onerror=alert(1)> was in the course',
  'information_schema.tables lists all tables; select table_name from it',
  'insert into orders values (1, 2); commit;',
] as const;

const names = [
  ...['note', 'comment', 'body', 'q', 'title', 'message', 'content', 'description'],
  ...['subject', 'text', 'review', 'answer', 'filter', 'bio'],
] as const;

/** Own texts under many names in queries and forms, and harmless requests of a corpus. */
export function falsePositives(benign: readonly DescribedCase[]): FalsePositive[] {
  const own = texts.flatMap((text, row) =>
    names.map((name, column) => {
      const where = `/fp/${row}-${column}`;
      const place = column % 2 === 0 ? inQuery(name) : inForm(name);
      return { request: place(text, where, `own ${row}-${column}`), path: where, place, text };
    }),
  );
  const others = benign.flatMap((one, at): FalsePositive[] => {
    // Under a path of its own; a text that stands in the path has none to be left out of.
    if (!/^\/(?:\?|$)/.test(one.url)) return [];
    const where = `/benign/${at}`;
    const request = underPath(one, where, `benign ${at}`);
    return [{ request, path: where, place: inQuery('x'), text: '' }];
  });
  return [...own, ...others];
}

/** The same request to another path. */
function underPath(one: DescribedCase, path: string, title: string): DescribedCase {
  const url = `${path}${one.url.slice(1)}`;
  const wire = one.wire.toString('latin1').replace(` ${one.url} `, () => ` ${url} `);
  return { ...one, title, url, wire: Buffer.from(wire, 'latin1') };
}

/**
 * Requests like a false positive that must stay blocked: the same text under another path and
 * beside its argument; and another attack in its place, which may have been stopped by the same
 * rules only.
 */
export function twinsOf({ request, path, place, text }: FalsePositive): DescribedCase[] {
  if (text === '') return [];
  return [
    place(text, `/elsewhere${path}`, `elsewhere ${request.title}`),
    inQuery('other')(text, path, `beside ${request.title}`),
    place('<svg/onload=alert(document.cookie)>', path, `xss ${request.title}`),
    place("1' union select password from users--", path, `sqli ${request.title}`),
    place('../../../../../../etc/shadow', path, `lfi ${request.title}`),
  ];
}

function inQuery(name: string) {
  return (text: string, path: string, title: string): DescribedCase =>
    described(title, 'GET', `${path}?${name}=${encodeURIComponent(text)}`, '');
}

function inForm(name: string) {
  return (text: string, path: string, title: string): DescribedCase =>
    described(title, 'POST', path, `${name}=${encodeURIComponent(text)}`);
}

function described(title: string, method: string, url: string, form: string): DescribedCase {
  const body = Buffer.from(form);
  const type = 'application/x-www-form-urlencoded';
  const headers: Record<string, string> = {
    ...{ Host: 'localhost', 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)', Accept: '*/*' },
    ...(form === '' ? {} : { 'Content-Type': type, 'Content-Length': String(body.length) }),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`;
  const wire = Buffer.concat([Buffer.from(head), body]);
  return { title, method, url, protocol: 'HTTP/1.1', headers, body, wire, host: 'localhost' };
}
