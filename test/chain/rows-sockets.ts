/** Rows on the messages of WebSockets that a site inspects, only observes, or leaves alone. */

import { frame } from '../../engine/front/fixtures/websocket-frames-fixture.ts';
import type { ChainExpected, ChainGroup, ChainRequest, ChainRow, Way } from './chain-row.ts';
import { inspectedBy, policyCalls, siteCall } from './chain-row.ts';

const sqli = "1' OR '1'='1";
const script = '<script>alert(1)</script>';
const closes = (code: number): string => String.fromCharCode(0x88, 2, code >> 8, code & 255);
const took = (text: string): string => `the origin took ${frame({ payload: text }).length} bytes`;
const wire = (given: Parameters<typeof frame>[0]): string => frame(given).toString('latin1');

const passes = (text: string): ChainExpected => ({
  ...{ status: 101, outcome: 'served', body: took(text) },
});
const refused = (rule: number): ChainExpected => ({
  ...{ status: 101, outcome: 'refused', refusal: 'websocket_message', body: closes(1008) },
  message: { status: 403, outcome: 'blocked', with: [rule] },
});
const ends = (reason: string, code = 1002): ChainExpected => ({
  ...{ status: 101, outcome: 'refused', refusal: `websocket_${reason}`, body: closes(code) },
});
const seen = (text: string, rule: number): ChainExpected => ({
  ...passes(text),
  message: { status: 101, outcome: 'served', with: [rule] },
});

const says = (message: string): ChainRequest => ({ path: '/chat', message });
const sends = (frames: string): ChainRequest => ({ path: '/chat', frames });
const inJson = JSON.stringify({ room: 1, text: [{ body: sqli }] });
const inParts = Buffer.concat([
  frame({ payload: sqli.slice(0, 5), final: false }),
  frame({ opcode: 0, payload: sqli.slice(5) }),
]).toString('latin1');
const long = `${'a '.repeat(8_192)}${sqli}`;

const stomp = (body: string): string => `SEND\ndestination:/app/chat\n\n${body}\0`;
const escaped = '{"text":"\\u0027 OR \\u00271\\u0027=\\u00271"}';

type Case = readonly [says: string, request: ChainRequest, expected: ChainExpected];

const blocking: readonly Case[] = [
  ['a message goes to the origin', says('hello'), passes('hello')],
  ['JSON does', says('{"room":1}'), passes('{"room":1}')],
  ['an empty message does', says(''), passes('')],
  ['a frame of STOMP does', says(stomp('{"text":"hi"}')), passes(stomp('{"text":"hi"}'))],
  ['an attack with escapes in a frame of STOMP', says(stomp(escaped)), refused(942_100)],
  ['an attack as text', says(sqli), refused(942_100)],
  ['an attack in JSON', says(inJson), refused(942_100)],
  ['markup', says(script), refused(941_100)],
  ['an attack in two fragments', sends(inParts), refused(942_100)],
  ['an attack after 16 KiB of padding', says(long), refused(942_100)],
  ['a frame without mask', sends(wire({ payload: 'a', masked: false })), ends('mask')],
  ['a compressed frame', sends(wire({ payload: 'a', reserved: 0x40 })), ends('reserved_bits')],
  ['an unknown frame', sends(wire({ opcode: 5 })), ends('opcode')],
  ['a length that is not the shortest', sends(wire({ lengthBytes: 2 })), ends('length')],
  ['a continuation of nothing', sends(wire({ opcode: 0 })), ends('continuation')],
  ['a ping in parts', sends(wire({ opcode: 9, final: false })), ends('control_frame')],
  [
    'text that is not UTF-8',
    sends(wire({ payload: Buffer.from([0xc0, 0xaf]) })),
    ends('invalid_text', 1007),
  ],
];
const observing: readonly Case[] = [
  ['a message goes to the origin', says('hello'), passes('hello')],
  ['an attack as text passes, with an event', says(sqli), seen(sqli, 942_100)],
  ['an attack in JSON passes, with an event', says(inJson), seen(inJson, 942_100)],
  ['a frame without mask', sends(wire({ payload: 'a', masked: false })), ends('mask')],
];
const alone: readonly Case[] = [
  ['an attack is not looked at', says(sqli), passes(sqli)],
  [
    'a frame without mask is not looked at',
    sends(wire({ payload: 'a', masked: false })),
    { status: 101, outcome: 'served', body: 'the origin took' },
  ],
];

const first: readonly Way[] = ['h1', 'h1s'];
const second: readonly Way[] = ['h2', 'h2s'];

/** Over HTTP/2 the opening is answered with 200 (RFC 8441 section 5). */
function rowsOf(site: string, choice: string, cases: readonly Case[]): ChainRow[] {
  return cases.flatMap(([text, request, expected]) => [
    { says: `Messages ${choice}: ${text}`, site, ways: first, request, expected },
    {
      ...{ says: `Messages ${choice} over HTTP/2: ${text}`, site, ways: second, request },
      expected: { ...expected, status: 200, logged: 101 },
    },
  ]);
}

/** The group. */
export const socketGroup: ChainGroup = {
  setup: [
    ...policyCalls('sockets', 'standard'),
    siteCall('sockets', inspectedBy('sockets')),
    siteCall('watched', inspectedBy('sockets')),
    siteCall('unwatched', inspectedBy('sockets')),
    siteCall('unpoliced'),
  ],
  later: [
    {
      rpc: 'SystemService/UpdateSystemSettings',
      body: {
        values: {
          'websocket.messages': {
            ...{ '*': 'block', '$site:watched': 'observe', '$site:unwatched': 'off' },
          },
        },
      },
    },
  ],
  rows: [
    ...rowsOf('sockets', 'blocked', blocking),
    ...rowsOf('watched', 'observed', observing),
    ...rowsOf('unwatched', 'off', alone),
    ...rowsOf('unpoliced', 'without a policy', alone),
  ],
};
