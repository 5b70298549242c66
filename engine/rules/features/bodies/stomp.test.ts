/** Tests reading frames of STOMP: what is ordinary brings no odd bytes, and nothing hides in it. */

import { expect, test } from 'vitest';

import { loadRequestBody } from '../../load/request-body.ts';
import { misplacedRows, rowTexts, transactionFor } from '../../load/test-sample.ts';
import { SOURCE } from '../../transaction/values.ts';

function read(body: string): { args: string[]; raw: number } {
  const tx = transactionFor('GET /ws HTTP/1.1\r\nHost: a', { inspectsUnparsed: true });
  loadRequestBody(tx, { bytes: Buffer.from(body, 'latin1'), truncated: false });
  expect([misplacedRows(tx), tx.bodyError]).toEqual([[], 0]);
  const raw = tx.values.rowsOf(SOURCE.requestBody).length;
  return { args: rowTexts(tx, SOURCE.argPost), raw };
}

const connect = 'CONNECT\naccept-version:1.2\nhost:a\n\n\0';
const send = 'SEND\r\ndestination:/app/chat\r\ncontent-type:application/json\r\n\r\n{"m":"hi"}\0\n';
const sent = '=SEND  destination:/app/chat  content-type:application/json    {"m":"hi"}';

test('a frame is its head and body in one line, and its body', () => {
  expect(read(connect)).toEqual({ args: ['=CONNECT accept-version:1.2 host:a  '], raw: 0 });
  expect(read(send)).toEqual({ args: [sent, 'json.m=hi'], raw: 0 });
});

test('several frames are read one after the other', () => {
  const { args, raw } = read(`${connect}\n\r\n${send}`);
  expect([args.slice(1), raw]).toEqual([[sent, 'json.m=hi'], 0]);
});

test('a frame in a list of SockJS takes the place of the text', () => {
  const { args } = read(JSON.stringify([connect, send]));
  expect(args.join('')).not.toMatch(/[\0\r\n]/);
  expect(args).toContain('json.m=hi');
  expect(args.filter((one) => one.includes('CONNECT'))).toHaveLength(1);
});

test('escapes of a head are read', () => {
  const { args } = read('SEND\nx:javascript\\calert(1)\\n\\\\\n\n\0');
  expect(args).toEqual(['=SEND x:javascript:alert(1) \\  ']);
});

test('what spans a head and a body stands in one line', () => {
  const { args } = read('SEND\nx:<img src=q\n\nonerror=alert(1)>\0');
  expect(args).toContain('=SEND x:<img src=q  onerror=alert(1)>');
});

test.each([
  ['a command of servers', send.replace('SEND', 'MESSAGE')],
  ['a command in another case', send.replace('SEND', 'send')],
  ['a line without a colon', send.replace('content-type:', 'content-type')],
  ['a control byte in the head', send.replace('/app', '/a\x01p')],
  ['no NUL at the end', send.replace('\0', '')],
  ['text after the NUL', `${send}<b>`],
  ['a NUL in the body', send.replace('hi', 'h\0i')],
  ['a long head', send.replace('/app', `/${'a'.repeat(9_000)}`)],
  ['too many frames', connect.repeat(257)],
])('%s is no frame: the text as it stands', (_, body) => {
  expect(read(body).raw).toBe(1);
});
