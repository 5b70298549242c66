/** Tests that origins of inspected sites answer only in codings that inspection can undo. */

import { afterEach, expect, test } from 'vitest';
import { Closing, httpOrigin, RawClient } from '../fixtures/fixture.ts';
import { ScriptedInspector, siteFor, startFront } from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

async function offered(lines: readonly string[], inspected: boolean): Promise<unknown> {
  const origin = await httpOrigin(closing, (request, response) => {
    response.end(JSON.stringify({ codings: request.headers['accept-encoding'] ?? null }));
  });
  const waf = { enabled: inspected, mode: 'blocking', failPolicy: 'closed' } as const;
  const inspector = inspected ? new ScriptedInspector({}) : null;
  const front = await startFront(closing, [siteFor(origin, { waf })], inspector);
  const fields = lines.map((line) => `${line}\r\n`).join('');
  const client = new RawClient(front.port);
  client.send(`GET / HTTP/1.1\r\nHost: a\r\n${fields}X-Last: 1\r\nConnection: close\r\n\r\n`);
  const text = await client.all();
  return (JSON.parse(/\{.*\}/.exec(text)![0]) as { codings: unknown }).codings;
}

test.each([
  [['Accept-Encoding: gzip, deflate, br, dcz'], 'gzip, deflate, br'],
  [['Accept-Encoding: gzip, zstd, dcb'], 'gzip, zstd'],
  [['Accept-Encoding: dcz'], 'identity'],
  [['accept-encoding: GZIP;q=0.5 , dcb, *;q=0.1'], 'GZIP;q=0.5'],
  [['Accept-Encoding: dcz', 'X-A: 1', 'Accept-Encoding: br;q=1.0'], 'br;q=1.0'],
  [['Accept_Encoding: dcz'], null],
  [['Accept-Encoding:'], 'identity'],
  [[], null],
])('%j is offered as %j', async (lines, wanted) => {
  expect(await offered(lines, true)).toBe(wanted);
});

test('without inspection the client is believed', async () => {
  expect(await offered(['Accept-Encoding: dcz, *'], false)).toBe('dcz, *');
});
