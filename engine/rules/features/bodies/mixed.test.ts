/** Tests how multipart types other than form-data become values. */

import { describe, expect, test } from 'vitest';

import { fromByteString } from '../../../../base/byte-string.ts';
import { valueLimits } from '../../../../base/rule-limits.ts';
import { loadRequestBody } from '../../load/request-body.ts';
import { misplacedRows, rowTexts, transactionFor } from '../../load/test-sample.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';

/** `|` stands for CRLF. */
function read(body: string, type = 'multipart/mixed; boundary=B', truncated = false): Transaction {
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}`;
  const tx = transactionFor(head, { inspectsUnparsed: true });
  loadRequestBody(tx, { bytes: fromByteString(body.replaceAll('|', '\r\n')), truncated });
  expect(misplacedRows(tx)).toEqual([]);
  return tx;
}

const args = (tx: Transaction): string[] => rowTexts(tx, SOURCE.argPost);

describe('parts', () => {
  const json = 'Content-Type: application/json';
  const rows: [title: string, body: string, args: string[]][] = [
    ['JSON and text', `--B|${json}||{"a":"\\u0027"}|--B||t|--B--|`, ["json.a='", '=t']],
    ['a form', '--B|Content-Type: application/x-www-form-urlencoded||a=%27|--B--', ["a='"]],
    [
      'a request',
      '--B|Content-Type: application/http||GET /p?q=%27 HTTP/1.1||x|--B--',
      ['=/p', "q='", '=x'],
    ],
    ['a nested type', '--B|Content-Type: multipart/mixed; boundary=C||--C||t|--C--|--B--', ['=t']],
    ['blanks after a boundary', '--B  ||t|--B-- |', ['=t']],
    ['lines before and after', 'p|--B||t|--B--|e', ['=p', '=t', '=e']],
    ['a folded field', '--B|X-A: b| c||t|--B--', ['x-a=b c', '=t']],
    ['base64', '--B|Content-Transfer-Encoding: base64||dGV4|dA==|--B--', ['=text']],
    ['an identifier', '--B|Content-ID: <a.b@c>||t|--B--', ['=t']],
  ];
  test.each(rows)('%s', (_, body, expected) => {
    const tx = read(body);
    expect(args(tx)).toEqual(expected);
    expect([tx.multipart, tx.bodyError]).toEqual([null, 0]);
    expect(rowTexts(tx, SOURCE.requestBody)).toEqual([]);
  });

  test('files by their names', () => {
    const tx = read('--B|Content-Disposition: attachment; filename="a.php"||t|--B--');
    expect(rowTexts(tx, SOURCE.file)).toEqual(['=a.php']);
    expect(args(tx)).toEqual(['=t']);
  });
});

describe('names of files as readers of mail take them', () => {
  const dots = '../../a.jsp';
  test.each([
    ['a word in base64', `filename="=?utf-8?B?${btoa(dots)}?="`, dots],
    ['a word with escapes', 'filename="=?iso-8859-1?q?..=2F..=2Fa=2Ejsp?="', dots],
    ['two words', 'filename="=?us-ascii?q?..=2F?= =?UTF-8*en?B?Li4vYS5qc3A=?="', dots],
    ['a word without quotes', 'filename==?utf-8?q?..=2F..=2Fa.jsp?=', dots],
    ['pieces', 'filename*1="/../a.jsp"; filename*0=".."', dots],
    ['extended pieces', `filename*0*=utf-8''%2e%2e; filename*1*=%2F..%2Fa.jsp`, `utf-8''${dots}`],
    ['of a field of Content-Type', 'name="=?utf-8?q?=27x?="', "'x"],
  ])('%s', (_, parameters, name) => {
    const field = parameters.startsWith('name') ? 'Content-Type: text/plain' : disposition;
    const tx = read(`--B|${field}; ${parameters}||t|--B--`);
    expect([...rowTexts(tx, SOURCE.file), ...args(tx)]).toContain(`=${name}`);
    expect(tx.bodyError).toBe(0);
  });

  test.each([
    `filename*=utf-16le''%2e%00`,
    'filename="=?utf-7?q?+AC4-?="',
    'filename="=?iso-2022-jp?B?GyRCGyhC?="',
  ])('%s does not show what it says', (parameters) => {
    const tx = read(`--B|${disposition}; ${parameters}||t|--B--`);
    expect(tx.bodyErrorMessage).toBe('Multipart: an encoding that is not read');
  });

  test('what is written in words in other fields is an argument in both readings', () => {
    const tx = read('--B|Subject: =?utf-8?q?=27x?= y||t|--B--');
    expect(args(tx)).toEqual(['subject==?utf-8?q?=27x?= y', "subject='x y", '=t']);
  });
});

const disposition = 'Content-Disposition: attachment';

describe('bounds', () => {
  test('nesting', () => {
    let body = 't';
    for (let level = 0; level < 9; level++) {
      body = `--B${level}|Content-Type: multipart/mixed; boundary=B${level - 1}||${body}|--B${level}--`;
    }
    const tx = read(body, 'multipart/mixed; boundary=B8');
    expect(tx.limitsReached).toEqual(['multipart-depth']);
    expect(args(tx).join()).toContain('--B1');
  });

  test('parts', () => {
    const tx = read(`${'--B||t|'.repeat(valueLimits.multipartPartsMax + 1)}--B--`);
    expect(tx.limitsReached).toContain('multipart-parts');
  });

  test('a body that is cut has its last part', () => {
    const tx = read('--B||one|--B||two', undefined, true);
    expect([args(tx), tx.multipart]).toEqual([['=one', '=two'], null]);
  });
});

test('what readers cut differently is marked, and inspected as a whole too', () => {
  const tx = read('--B||a --B b|--B--');
  expect(tx.multipart!.twoReadings).toBe(1);
  expect(args(tx)).toContain('=--B\r\n\r\na --B b\r\n--B--');
  expect(rowTexts(tx, SOURCE.requestBody)).toHaveLength(1);
});

test('a charset that hides ASCII is an error', () => {
  const tx = read('--B|Content-Type: text/plain; charset=utf-7||t|--B--');
  expect(tx.bodyErrorMessage).toBe('Multipart: an encoding that is not read');
});
