/**
 * Tests that multipart bodies have one reading: a part that some backend reads as a field, or under
 * another name, is an argument under that name, and flagged; a stray delimiter is refused.
 */

import { describe, expect, test } from 'vitest';

import { fromByteString } from '../../../../base/byte-string.ts';
import { loadRequestBody } from '../../load/request-body.ts';
import { misplacedRows, rowTexts, transactionFor } from '../../load/test-sample.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';

function read(body: string): Transaction {
  const head = 'POST / HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=B';
  const tx = transactionFor(head, { inspectsUnparsed: true });
  loadRequestBody(tx, { bytes: fromByteString(body), truncated: false });
  expect(misplacedRows(tx)).toEqual([]);
  return tx;
}

/** A body of one part. */
function part(disposition: string, more = '', content = 'DATA'): string {
  const line = `Content-Disposition: form-data; ${disposition}`;
  return `--B\r\n${line}\r\n${more}\r\n${content}\r\n--B--\r\n`;
}

describe('only a file', () => {
  test.each([
    ['name="a"; filename="f.txt"'],
    ['name="a b;c=d"; filename="f;g=h.txt"'],
    ['name="a[]"; filename="%22f%22.txt"'],
    ['name="\xc3\xa9"; filename="\xc3\xa9.txt"'],
    ['name="a"; filename="C:\\dir\\1.txt"'],
    ['name="a"; filename="f"  '],
    ['name="a";filename="f"'],
    ['name="a" ; filename="f"'],
    ['name="a";  filename="f"'],
    ['filename="f"; name="a"'],
    ['name=a; filename=f'],
    ['name=a; filename="f"'],
    [`name=a; filename=it's`],
    ['name="a"; filename="f"; size=12; creation-date="Wed, 12 Feb 2025 16:29:51 -0500"'],
  ])('%s', (disposition) => {
    const tx = read(part(disposition, 'Content-Type: text/plain\r\n'));
    expect(rowTexts(tx, SOURCE.argPost)).toEqual([]);
    expect(rowTexts(tx, SOURCE.file)).toHaveLength(1);
    expect([tx.multipart!.ambiguousPart, tx.multipart!.twoReadings]).toEqual([0, 0]);
  });
});

describe('character references in names of files are opened, too', () => {
  test.each([
    ['x.p&#104p', 'x.php'],
    ['x.p&#x0068;p', 'x.php'],
    ['&lt;b&gt;', '<b>'],
    ['&ltb&gt', '<b>'],
    ['a&lpar;b&rpar;&sol;&period;&lowbar;', 'a(b)/._'],
    ['&amp;#104;', '&#104;'],
    ['&#00000000000104;', 'h'],
  ])('%s', (sent, opened) => {
    const tx = read(part(`name="a"; filename="${sent}"`));
    expect(rowTexts(tx, SOURCE.file)).toEqual([`a=${sent}`, `a=${opened}`]);
    expect(tx.files).toHaveLength(1);
  });

  test.each(['AT&T', 'a&b;c', '&#99999999;', '&unknown;'])('%s names nothing', (sent) => {
    const tx = read(part(`name="a"; filename="${sent}"`));
    expect(rowTexts(tx, SOURCE.file)).toEqual([`a=${sent}`]);
  });

  test('not where rules alone say what is inspected', () => {
    const head = 'POST / HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=B';
    const tx = transactionFor(head, { inspectsUnparsed: false });
    const bytes = fromByteString(part('name="a"; filename="x.p&#104p"'));
    loadRequestBody(tx, { bytes, truncated: false });
    expect(rowTexts(tx, SOURCE.file)).toEqual(['a=x.p&#104p']);
  });
});

describe('a name of a file in words of mail, which Tomcat decodes', () => {
  test.each([
    ['=?utf-8?B?Li4vYS5qc3A=?=', '../a.jsp'],
    ['a=?iso-8859-1?Q?=2Ejsp?=', 'a.jsp'],
    ['=?utf-8?q?a.j?= =?utf-8?q?sp?=', 'a.jsp'],
    ['=?utf-8?q?a_b?= c', 'a b c'],
  ])('%s', (sent, opened) => {
    const tx = read(part(`name="a"; filename="${sent}"`));
    expect(rowTexts(tx, SOURCE.file)).toEqual([`a=${sent}`, `a=${opened}`]);
    expect([tx.multipart!.ambiguousPart, tx.multipart!.twoReadings]).toEqual([0, 0]);
  });

  test('a name of a field in such words is one of several', () => {
    const tx = read(part('name="=?utf-8?q?b=5B=5D?="'));
    const names = ['=?utf-8?q?b=5B=5D?=', 'b[]'].map((name) => `${name}=DATA`);
    expect(rowTexts(tx, SOURCE.argPost)).toEqual(expect.arrayContaining(names));
    expect([tx.multipart!.ambiguousPart, tx.multipart!.twoReadings]).toEqual([1, 0]);
  });

  test.each(['=?utf-8?x?a?=', '=?utf-8?q?a?', '=??q?a?='])('%s is no word', (sent) => {
    const tx = read(part(`name="a"; filename="${sent}"`));
    expect(rowTexts(tx, SOURCE.file)).toEqual([`a=${sent}`]);
  });
});

describe('only a field', () => {
  test.each([['name="a"'], ['name=a'], ['name="a"; '], ['name="a;b"'], ['name="a%22b"']])(
    '%s',
    (disposition) => {
      const tx = read(part(disposition));
      expect(rowTexts(tx, SOURCE.argPost)).toHaveLength(1);
      expect(rowTexts(tx, SOURCE.file)).toEqual([]);
      expect([tx.multipart!.ambiguousPart, tx.multipart!.twoReadings]).toEqual([0, 0]);
    },
  );
});

describe('a field and a file', () => {
  const rows: [string, string[]][] = [
    [`name="a"; filename*=utf-8''f`, ['a', `utf-8''f`]],
    ['name="a"; filename ="f"', ['a', 'f']],
    ['name="a"; filename= "f"', ['a', 'f']],
    ['name="a"; filename\t=\t"f"', ['a', 'f']],
    ['name = "a"; filename="f"', ['a', 'f']],
    [`name="a"; filename="f"; filename*="utf-8''g"`, ['a', 'f', `utf-8''g`]],
    [`name="a"; filename="f"; filename*=windows-1251''g`, ['a', 'f', `windows-1251''g`]],
    [`name="a"; filename=""; filename*=utf-8''g`, ['a', `utf-8''g`]],
    ['name=""; name="a"; filename="f"', ['a', 'f']],
    ['name="a"; filename=""; filename="f"', ['a', 'f']],
    ['name="a"; filename="f";', ['a', 'f']],
    ['name="a\\\\"; filename="f"', ['a\\', 'a\\\\', 'f']],
    ['name="a"; filename="f\\\\"', ['a', 'f\\\\', 'f\\']],
    ['name="a\\"b"; filename="f"', ['a"b', 'a\\"b', 'a\\', 'f']],
  ];
  test.each(rows)('%s', (disposition, names) => {
    const tx = read(part(disposition, 'Content-Type: text/plain\r\n'));
    expect(tx.bodyErrorMessage).toBe('');
    expect([tx.multipart!.ambiguousPart, tx.multipart!.twoReadings]).toEqual([1, 0]);
    expect(rowTexts(tx, SOURCE.file).length).toBeGreaterThan(0);
    const rowsRead = rowTexts(tx, SOURCE.argPost);
    const wanted = names.map((name) => `${name}=DATA`);
    expect(rowsRead[0]).toBe(wanted[0]);
    expect(rowsRead).toEqual(expect.arrayContaining(wanted));
    // Backslashes leave room for more readings.
    if (!disposition.includes('\\')) expect(rowsRead).toHaveLength(wanted.length);
  });

  test('a name whose quotes Django counts otherwise', () => {
    const tx = read(part('name="\\"a;"'));
    expect(rowTexts(tx, SOURCE.argPost)).toContain('"\\"a=DATA');
    expect([tx.multipart!.ambiguousPart, tx.multipart!.twoReadings]).toEqual([1, 0]);
  });

  test.each([
    ['name="\\"a"; filename="f"', '"a"; filename="f=DATA'],
    ['name="a;b\\"c;"; filename=";f"', '"a;b\\"c=DATA'],
  ])('%s: what Django reads between its quotes', (disposition, row) => {
    const tx = read(part(disposition));
    expect(rowTexts(tx, SOURCE.argPost)).toContain(row);
    expect([tx.multipart!.ambiguousPart, tx.multipart!.twoReadings]).toEqual([1, 0]);
  });

  test('without a file name, but with content', () => {
    const tx = read(part('name="a"; filename=""'));
    expect(rowTexts(tx, SOURCE.argPost)).toEqual(['a=DATA']);
    expect(tx.multipart!.ambiguousPart).toBe(1);
  });

  test('a file input that was left empty is nothing unusual', () => {
    const tx = read(part('name="a"; filename=""', 'Content-Type: a/b\r\n', ''));
    expect(rowTexts(tx, SOURCE.argPost)).toEqual([]);
    expect([tx.multipart!.ambiguousPart, tx.multipart!.twoReadings]).toEqual([0, 0]);
  });

  test('more names than one part may have', () => {
    const tx = read(part(`name="a"; ${'name=""; '.repeat(2)}filename="${'=a1;'.repeat(9)}\\"`));
    expect(tx.multipart!.twoReadings).toBe(1);
  });
});

describe('content that a backend may decode', () => {
  test.each([
    ['Content-Transfer-Encoding: base64', 1, 0],
    ['Content-Transfer-Encoding: quoted-printable', 1, 0],
    ['Content-Transfer-Encoding: binary', 0, 0],
    ['Content-Type: text/plain; charset=utf-16le', 1, 1],
    ['Content-Type: text/plain; charset="utf-7"', 1, 1],
    ['Content-Type: text/plain; charset=cp037', 1, 1],
    ['Content-Type: text/plain; charset=iso-2022-jp', 1, 1],
    ['Content-Type: text/plain; charset=Shift_JIS', 1, 0],
    ['Content-Type: text/plain; charset=windows-1251', 0, 0],
    ['Content-Type: text/plain; charset=TIS-620', 0, 0],
    ['Content-Type: text/plain; charset="ISO-8859-11"', 0, 0],
    ['Content-Type: text/plain; x=y; charset=utf-8', 1, 0],
    ['Content-Type: text/plain; charset=UTF-8', 0, 0],
    ['Content-Type: text/plain; charset="us-ascii"', 0, 0],
    ['Content-Type: multipart/mixed; boundary=C', 1, 0],
    ['content-type:message/rfc822', 1, 0],
    ['Content-Type: application/json', 0, 0],
  ])('%s', (line, ambiguous, differs) => {
    const tx = read(part('name="a"', `${line}\r\n`));
    expect(rowTexts(tx, SOURCE.argPost)).toContain('a=DATA');
    expect([tx.multipart!.ambiguousPart, tx.multipart!.twoReadings]).toEqual([ambiguous, differs]);
  });
});

describe('a name that a backend may decode', () => {
  test.each([
    [`filename*=utf-16le''f1f%00;  filename="f"`, 1],
    [`filename*=UTF16LE'en'f%00`, 1],
    [`filename*=ucs-2''f%00`, 1],
    [`filename*=base64''Li4v`, 1],
    [`filename* = "utf-7''+AC4-"`, 1],
    [`filename="f"; filename*=iso-2022-jp''%1b(Bf`, 1],
    [`filename="f"; name*=utf-16be''%00f`, 1],
    [`filename*0*=utf-16le''f%00`, 1],
    [`filename="f"; filename*=utf-8''%e2%82%ac`, 0],
    [`filename*=UTF-8'de'f; filename="f"`, 0],
    [`filename*=windows-1252''%80`, 0],
    [`filename="it*='s"`, 0],
    ['filename="=?utf-7?q?+AC4-?="', 1],
    ['filename="=?ISO-2022-JP?B?GyRCGyhC?="', 1],
    ['filename="=?utf-8?q?=2E?="', 0],
  ])('%s', (parameters, differs) => {
    expect(read(part(`name="a"; ${parameters}`)).multipart!.twoReadings).toBe(differs);
  });
});

describe('a delimiter that is no boundary to all', () => {
  const file = 'name="f"; filename="f"';
  const inner = '--B\r\nContent-Disposition: form-data; name="x"\r\n\r\nATTACK';
  test.each([
    ['after a bare CR', part(file, '', `a\r${inner}`)],
    ['within a line', part(file, '', `a ${inner}`)],
    ['after another control character', part(file, '', `a\v${inner}`)],
    ['after a line that is another boundary', part(file, '', `--x\r\na\r${inner}`)],
    ['in a header', part('name="--B"')],
  ])('%s', (_, body) => {
    const tx = read(`${body.slice(0, -'--B--\r\n'.length)}${part('name="z"')}`);
    expect(tx.multipart!.unmatchedBoundary).toBe(1);
  });

  test('after a bare LF it is a boundary, and flagged', () => {
    const tx = read(part(file, '', `a\n${inner}`));
    expect(rowTexts(tx, SOURCE.argPost)).toEqual(['x=ATTACK']);
    expect(tx.multipart!.lfLine).toBe(1);
  });

  test('lines that only look like boundaries are content', () => {
    const pem = '-----KEY BEGINS-----\r\nMA==\r\n-----KEY ENDS-----';
    const tx = read(part(file, '', pem));
    expect([tx.multipart!.unmatchedBoundary, tx.multipart!.twoReadings]).toEqual([2, 0]);
  });

  test('control characters in part headers are errors', () => {
    for (const bad of ['\r', '\v', '\x00', '\x1f', '\x7f']) {
      const tx = read(part(`name="a"${bad}; filename="f"`));
      expect([tx.bodyError, tx.multipart!.twoReadings]).toEqual([1, 1]);
    }
  });
});
