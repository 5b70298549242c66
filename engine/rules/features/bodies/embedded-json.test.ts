/** Tests which JSON is read that stands after the frame of a protocol of messages. */

import { expect, test } from 'vitest';

import { loadRequestBody } from '../../load/request-body.ts';
import { misplacedRows, rowTexts, transactionFor } from '../../load/test-sample.ts';
import { SOURCE } from '../../transaction/values.ts';

const escaped = '\\u003cb\\u003e';

function args(body: Buffer, fields = ''): string[] {
  const tx = transactionFor(`POST / HTTP/1.1\r\nHost: a${fields}`, { inspectsUnparsed: true });
  loadRequestBody(tx, { bytes: body, truncated: false });
  expect([misplacedRows(tx), tx.bodyError]).toEqual([[], 0]);
  return rowTexts(tx, SOURCE.argPost);
}

const stomp = (body: string): string => `SEND\ndestination:/a\n\n${body}\0`;
const mqtt = (body: string): string =>
  `\x30${String.fromCharCode(5 + body.length)}\0\x03a/b${body}`;

test.each([
  ['STOMP', stomp(`{"m":"${escaped}"}`)],
  ['a list over STOMP', stomp(`["${escaped}"]`)],
  ['a string over STOMP', stomp(`"${escaped} x"`)],
  ['STOMP with CRLF', `SEND\r\ndestination:/a\r\n\r\n"${escaped}"\0`],
  ['the second frame of STOMP', stomp('{"a":1}') + stomp(`{"m":"${escaped}"}`)],
  ['STOMP over SockJS', JSON.stringify([stomp(`{"m":"${escaped}"}`)])],
  ['MQTT', mqtt(`{"m":"${escaped}"}`)],
  ['the second packet of MQTT', mqtt('{"a":"\\n"}') + mqtt(`{"m":"${escaped}"}`)],
  ['MessagePack of SignalR', `\x2a\x96\x01\x80\xc0\xa4Send\x91\xb8{"m":"${escaped}"}\x90`],
  ['JSON of SignalR', `{"type":6}\x1e{"type":1,"arguments":["${escaped}"]}\x1e`],
  ['a command line', `PUB a 30\r\n{ "m":"${escaped}"}\r\n`],
  ['a packet of Socket.IO in JSON', JSON.stringify({ d: `42["a","${escaped}"]` })],
  ['ActionCable', JSON.stringify({ command: 'message', data: `{"m":"${escaped}"}` })],
])('%s', (_, body) => {
  expect(args(Buffer.from(body, 'latin1')).join('\n')).toMatch(/(?:=|^)<b>(?: x)?$/m);
});

test('a packet of Socket.IO in a form', () => {
  const form = '\r\nContent-Type: application/x-www-form-urlencoded';
  const body = Buffer.from(`d=${encodeURIComponent(`42["a","${escaped}"]`)}`);
  expect(args(body, form)).toContain('json.array_1=<b>');
});

test.each([
  ['text without an escape', 'see {"a":"b"} there'],
  ['text without JSON', 'so \\frac{a}{b} in C:\\new [1] (\\d)'],
  ['an escape before the JSON', `a\\b\0{"a":"b and c"}`],
])('%s is one text', (_, body) => {
  expect(args(Buffer.from(body)).filter((one) => one.startsWith('json'))).toEqual([]);
});

test('of data, only text that holds an escape is read', () => {
  const data = Buffer.from(
    Array.from({ length: 60_000 }, (_, at) => (at * 7919 + (at >> 3)) & 255),
  );
  expect(args(data).filter((one) => one.startsWith('json'))).toEqual([]);
});
