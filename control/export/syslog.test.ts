/** Tests syslog messages: their head, their frames, and that one event is one line of ASCII. */

import { expect, test } from 'vitest';
import { framed, syslogSeverity, syslogText } from './syslog.ts';

const message = {
  severity: syslogSeverity.warning,
  atMs: Date.UTC(2026, 10, 22, 22, 30, 1, 5),
  event: 'security',
  content: { a: 'x' },
} as const;

test('the head has the fields of RFC 5424 in their order', () => {
  expect(syslogText(message, 16, 'edge-1')).toBe(
    '<132>1 2026-11-22T22:30:01.005Z edge-1 waf - security - {"a":"x"}',
  );
  expect(syslogText({ ...message, severity: syslogSeverity.critical }, 0, 'h')).toMatch(/^<2>1 /);
  expect(syslogText({ ...message, severity: syslogSeverity.info }, 23, 'h')).toMatch(/^<190>1 /);
});

test.each(['', 'two words', 'ü', 'x'.repeat(256)])(
  'a host name %j that is none becomes -',
  (name) => {
    expect(syslogText(message, 16, name).split(' ')[2]).toBe('-');
  },
);

test.each(['\n<0>1 - - - - - forged', '\r', '\u0000', '\u2028', '\u009b2J', 'ü€😀', '\ufeff'])(
  'what a client sent ends no message and is no control code: %j',
  (text) => {
    const line = syslogText({ ...message, content: { text } }, 16, 'h');
    expect(line).toMatch(/^[ -~]+$/);
    expect(JSON.parse(line.slice(line.indexOf('{')))).toEqual({ text });
  },
);

test('frames: octets are counted, lines end, datagrams are bare', () => {
  const tcp = { transport: 'tcp', framing: 'octet_counting' } as const;
  expect(framed('<1>1 abc', tcp).toString()).toBe('8 <1>1 abc');
  expect(framed('<1>1 abc', { ...tcp, framing: 'newline' }).toString()).toBe('<1>1 abc\n');
  expect(framed('<1>1 abc', { ...tcp, transport: 'udp' }).toString()).toBe('<1>1 abc');
});
