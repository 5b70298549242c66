/** Tests reading multipart bodies: every flag, every way to be cut, random input. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { fromByteString } from '../../../../base/byte-string.ts';
import { loadRequestBody } from '../../load/request-body.ts';
import { misplacedRows, rowTexts, transactionFor } from '../../load/test-sample.ts';
import type { MultipartFlags, Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';

function read(body: string, contentType = 'boundary=B', settings = {}, truncated = false) {
  const tx = transactionFor(
    `POST / HTTP/1.1\r\nContent-Type: multipart/form-data; ${contentType}`,
    settings,
  );
  loadRequestBody(tx, { bytes: fromByteString(body), truncated });
  expect(misplacedRows(tx)).toEqual([]);
  return tx;
}

const crlf = (text: string): string => text.replaceAll('|', '\r\n');
const field = (name: string, value: string): string =>
  crlf(`--B|Content-Disposition: form-data; name="${name}"||${value}|`);
const end = '--B--\r\n';

/** Flags of ModSecurity that are not zero. */
function raised(tx: Transaction): Partial<MultipartFlags> {
  const {
    names: _,
    fileNames: __,
    twoReadings: ___,
    readingsReason: ____,
    ...flags
  } = tx.multipart!;
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== 0));
}

test('fields, files and part headers', () => {
  const file = crlf(
    '--B|Content-Disposition: form-data; name="up"; filename="a.php"|' +
      'Content-Type: image/jpeg||DATA|',
  );
  const tx = read(field('a', '1') + file + field('b', '2|x') + end);
  expect(raised(tx)).toEqual({});
  expect(tx.bodyErrorMessage).toBe('');
  expect(rowTexts(tx, SOURCE.argPost)).toEqual(['a=1', 'b=2\r\nx']);
  expect(rowTexts(tx, SOURCE.file)).toEqual(['up=a.php']);
  expect(rowTexts(tx, SOURCE.multipartPartHeader)).toEqual([
    'a=Content-Disposition: form-data; name="a"',
    'up=Content-Disposition: form-data; name="up"; filename="a.php"',
    'up=Content-Type: image/jpeg',
    'b=Content-Disposition: form-data; name="b"',
  ]);
  const { field: name, fileName, sizeBytes, start, end: stop } = tx.files[0]!;
  expect([name, fileName, sizeBytes]).toEqual(['up', 'a.php', 4]);
  expect(tx.values.slab.latin1Slice(start, stop)).toBe('DATA');
  expect(tx.multipart!.names).toEqual(['a', 'up', 'b']);
  expect(rowTexts(tx, SOURCE.requestBody)).toEqual([]);
});

const ok = field('a', '1') + end;
const strict = (flags: Partial<MultipartFlags> = {}): Partial<MultipartFlags> => ({
  strictError: 1,
  ...flags,
});

describe('Content-Type', () => {
  const otherBoundary = strict({ ambiguousBoundary: 1, dataBefore: 1, unmatchedBoundary: 1 });
  const rows: [string, Partial<MultipartFlags>, string][] = [
    ['boundary=B', {}, ''],
    ['boundary="B"', strict({ boundaryQuoted: 1 }), ''],
    ['boundary= B', strict({ boundaryWhitespace: 1 }), ''],
    ['boundary =B', strict({ boundaryWhitespace: 1 }), ''],
    ['boundary=B; charset=UTF-8', {}, ''],
    ['boundary="B', strict(), 'quote'],
    ['boundary=B"', strict(), 'quote'],
    ['boundary="B ', strict(), 'quote'],
    ['boundary="B "', strict({ boundaryQuoted: 1 }), 'characters'],
    ['boundary="B""B"', strict({ boundaryQuoted: 1 }), 'characters'],
    ['boundary=B!', strict(), 'characters'],
    ['boundary=B,C', otherBoundary, 'No boundaries'],
    ['boundary=B:C', otherBoundary, 'No boundaries'],
    [`boundary=${'B'.repeat(71)}`, otherBoundary, 'No boundaries'],
    ['bOundary=B', strict(), 'case sensitivity'],
    ['boundary12=B', strict(), 'parameter name'],
    ['boundary', strict(), 'malformed'],
    ['boundary=', strict(), 'empty'],
    ['boundary=B; boundary=C', strict(), 'Multiple boundary'],
    ['charset=x; boundary=B', strict(), 'malformed'],
    ['', strict(), 'Boundary not found'],
  ];
  test.each(rows)('%s', (contentType, flags, reason) => {
    const tx = read(ok, contentType);
    expect(raised(tx)).toEqual(flags);
    expect(tx.bodyError).toBe(reason === '' ? 0 : 1);
    expect(tx.bodyErrorMessage).toContain(reason);
    if (reason === '') expect(rowTexts(tx, SOURCE.argPost)).toEqual(['a=1']);
  });

  test('no semicolon', () => {
    const tx = transactionFor('POST / HTTP/1.1\r\nContent-Type: multipart/form-data boundary=B');
    loadRequestBody(tx, { bytes: fromByteString(ok), truncated: false });
    expect(raised(tx)).toEqual(strict({ missingSemicolon: 1 }));
    expect(rowTexts(tx, SOURCE.argPost)).toEqual(['a=1']);
  });
});

describe('bodies', () => {
  const part = (headers: string, value = '1'): string =>
    `--B\r\n${crlf(headers)}\r\n\r\n${value}\r\n`;
  const cd = 'Content-Disposition: form-data; name="a"';
  const rows: [string, string, Partial<MultipartFlags>, string, string[]][] = [
    ['data before', `x\r\n${ok}`, strict({ dataBefore: 1 }), '', ['a=1']],
    ['data after', `${ok}\r\n`, strict({ dataAfter: 1 }), '', ['a=1']],
    ['no line end at the end', ok.trimEnd(), {}, '', ['a=1']],
    ['LF', ok.replaceAll('\r\n', '\n'), strict({ lfLine: 1 }), '', ['a=1']],
    ['mixed', `--B\n${ok.slice(5)}`, strict({ lfLine: 1, crlfLfLines: 1 }), '', ['a=1']],
    ['LF in content only', field('a', '1\n2') + end, {}, '', ['a=1\n2']],
    ['final boundary missing', field('a', '1'), {}, 'Final boundary missing', ['a=1']],
    ['no boundary', 'x=1&y=2', strict({ dataBefore: 1 }), 'No boundaries', []],
    ['only the final one', end, {}, '', []],
    [
      'folding',
      part('Content-Disposition: form-data;| name="a"') + end,
      strict({ headerFolding: 1 }),
      '',
      ['a=1'],
    ],
    [
      'folding by form feed',
      part('Content-Disposition: form-data;|\fname="a"') + end,
      strict({ headerFolding: 1, invalidHeaderFolding: 1 }),
      '',
      ['a=1'],
    ],
    [
      'folding first',
      part(` x|${cd}`) + end,
      strict({ headerFolding: 1 }),
      'folding error',
      ['a=1'],
    ],
    [
      'unmatched',
      field('a', '--test') + '--C\r\n',
      { unmatchedBoundary: 1 },
      'Final boundary',
      ['a=--test\r\n--C'],
    ],
    [
      'unmatched, then matched',
      field('a', '--test') + end,
      { unmatchedBoundary: 2 },
      '',
      ['a=--test'],
    ],
    [
      'unmatched in the line',
      field('a', 'x --B') + field('b', '') + end,
      { unmatchedBoundary: 1 },
      '',
      ['a=x --B', 'b='],
    ],
    ['two dashes alone', field('a', '--') + end, { unmatchedBoundary: 2 }, '', ['a=--']],
    [
      'blank in a boundary',
      field('a', '1') + '-- B--\r\n' + end,
      strict(),
      'whitespace',
      ['a=1\r\n-- B--'],
    ],
    [
      'junk at a boundary',
      field('a', '1') + '--Bx\r\n' + end,
      strict(),
      'Invalid boundary',
      ['a=1\r\n--Bx'],
    ],
    [
      'no disposition',
      part('X: y') + end,
      strict({ invalidPart: 1 }),
      'missing Content-Disposition',
      ['=1'],
    ],
    [
      'no name',
      part('Content-Disposition: form-data') + end,
      strict({ invalidPart: 1 }),
      'missing name',
      ['=1'],
    ],
    ['no colon', part(`x|${cd}`) + end, strict(), 'colon missing', ['a=1']],
    ['no header name', part(`:x|${cd}`) + end, strict(), 'header name missing', ['a=1']],
    ['header twice', part(`${cd}|X: 1|x: 2`) + end, strict(), 'Duplicate part header', ['a=1']],
    ['control in a name', part(`X\x0e: 1|${cd}`) + end, strict(), 'Control character', ['a=1']],
    ['blank in a name', part(`X : 1|${cd}`) + end, strict(), 'invalid character', ['a=1']],
    ['NUL', part(`${cd}|X: \0`) + end, strict(), 'Nul byte', ['a=1']],
    [
      'part without content',
      `--B\r\n${cd}\r\n${end}`,
      strict({ invalidPart: 1 }),
      'headers without their end',
      [],
    ],
    [
      'name twice',
      part(`${cd}; name="b"`) + end,
      strict({ invalidPart: 1 }),
      'Content-Disposition',
      ['a=1', 'b=1'],
    ],
    [
      'unknown parameter',
      part(`${cd}; x="b"`) + end,
      strict({ invalidPart: 1 }),
      'Content-Disposition',
      ['a=1'],
    ],
    ['empty file name', part(`${cd}; filename=""`) + end, { ambiguousPart: 1 }, '', ['a=1']],
    ['lower-case header', part(cd.toLowerCase()) + end, {}, '', ['a=1']],
  ];
  test.each(rows)('%s', (_, body, flags, reason, args) => {
    const tx = read(body);
    expect(raised(tx)).toEqual(flags);
    expect(tx.bodyError).toBe(reason === '' ? 0 : 1);
    expect(tx.bodyErrorMessage).toContain(reason);
    expect(rowTexts(tx, SOURCE.argPost)).toEqual(args);
  });

  test('a quoted boundary that is quoted in the body, too', () => {
    const tx = read('--"B"\r\n\r\n', 'boundary="B"');
    expect(tx.bodyErrorMessage).toBe('Multipart: Invalid boundary (quotes).');
  });
});

describe('Content-Disposition', () => {
  const rows: [string, string, string, number][] = [
    // parameters, name, file names, invalid quoting; '!' in front: an error
    ['name="a"', 'a', '', 0],
    ['name=a', 'a', '', 0],
    [' name = "a" ', 'a', '', 0],
    ['name="a";', 'a', '', 0],
    ['name="a\\"b\\\\c\\d"', 'a"b\\c\\d', '', 0],
    ["name='a'", 'a', '', 1],
    ["name=fi'le", "fi'le", '', 1],
    ['name="fi\'le"', "fi'le", '', 0],
    ['name="a"; filename="b"', 'a', 'b', 0],
    ["name=a; filename*=utf-8''%41b.txt", 'a', 'Ab.txt', 0],
    ['name=a; filename*= ISO-8859-1\'\'ab; filename="ab"', 'a', 'ab,ab', 0],
    ['!name=a; filename="b"; filename*=\'\'c', 'a', 'b', 1],
    ['!name=a; filename="b"; filename*=UTF-8\'c', 'a', 'b', 0],
    ['!name=a; filename="b"; filename*=utf-8\'\'%4G', 'a', 'b', 0],
    ['!name=\';filename="dummy\';name=b;"', ';filename="dummy', '', 1],
    ['!name="a"; name="b"', 'a', '', 0],
    ['!name="a"; filename=b; filename=c', 'a', 'b', 0],
    ['!name="a"; x=y', 'a', '', 0],
    ['!name="a" filename="b"', 'a', '', 1],
    ['!name="a', '', '', 0],
    ['!name=', '', '', 0],
    ['!name', '', '', 0],
  ];
  test.each(rows)('%s', (given, name, fileNames, quoting) => {
    const bad = given.startsWith('!');
    const header = `Content-Disposition: form-data; ${bad ? given.slice(1) : given}`;
    const tx = read(`--B\r\n${header}\r\n\r\nv\r\n${end}`);
    expect(tx.multipart!.names.join()).toBe(name);
    expect(tx.multipart!.fileNames.join()).toBe(fileNames);
    expect(tx.multipart!.invalidQuoting).toBe(quoting);
    expect(tx.bodyError).toBe(bad ? 1 : 0);
  });
});

test('the file limit', () => {
  const file = (i: number): string =>
    crlf(`--B|Content-Disposition: form-data; name="i${i}"; filename="i${i}.jpg"||D|`);
  const tx = read(file(1) + file(2) + file(3) + end, 'boundary=B', { uploadFilesMax: 2 });
  expect(raised(tx)).toEqual(strict({ fileLimitExceeded: 1 }));
  expect(tx.bodyErrorMessage).toContain('Upload file limit exceeded');
  expect(rowTexts(tx, SOURCE.file)).toEqual(['i1=i1.jpg', 'i2=i2.jpg', 'i3=i3.jpg']);
});

test('file content does not count as body without files', () => {
  const big = crlf(
    `--B|Content-Disposition: form-data; name="f"; filename="f"||${'x'.repeat(99)}|`,
  );
  const limit = { requestBodyNoFilesLimitBytes: 120 };
  expect(read(big + end, 'boundary=B', limit).bodyError).toBe(0);
  expect(read(field('a', 'x'.repeat(99)) + end, 'boundary=B', limit).bodyError).toBe(1);
});

test('a cut body is no error wherever it is cut', () => {
  const file = crlf('--B|Content-Disposition: form-data; name="up"; filename="a.php"||DATA--X|');
  const whole = field('a', '1') + file + field('b', '2') + end;
  for (let at = 4; at < whole.length; at++) {
    const tx = read(whole.slice(0, at), 'boundary=B', {}, true);
    expect(tx.bodyErrorMessage).toBe('');
    expect(tx.multipart!.unmatchedBoundary).toBe(0);
  }
  const cut = read(whole.slice(0, whole.indexOf('--X')), 'boundary=B', {}, true);
  expect(contentOf(cut)).toBe('DATA');
});

const contentOf = (tx: Transaction): string =>
  tx.values.slab.latin1Slice(tx.files[0]!.start, tx.files[0]!.end);

test('random pieces never throw and never put a row outside', () => {
  const piece = fc.constantFrom(
    '--B',
    '--',
    'B',
    '\r\n',
    '\n',
    ':',
    ' ',
    '\f',
    '\0',
    '"',
    "'",
    ';',
    'x',
    '\xff',
    'Content-Disposition: form-data; name="a"',
    'filename=',
    '\r\n\r\n',
    '--B--',
    'X: y',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 50 }), fc.boolean(), (pieces, truncated) => {
      const tx = read(pieces.join(''), 'boundary=B', {}, truncated);
      expect(tx.values.count).toBeLessThan(200);
    }),
    { numRuns: 2_000 },
  );
});

test('many short lines and many folds stay linear in memory', () => {
  const folded = `--B\r\nX: y${'\r\n '.repeat(50_000)}\r\n\r\n`;
  expect(read(folded).values.used).toBeLessThan(1_000_000);
  const lines = field('a', '-\r\n--\r\n'.repeat(50_000)) + end;
  expect(rowTexts(read(lines), SOURCE.argPost)).toHaveLength(1);
});
