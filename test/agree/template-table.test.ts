/**
 * The guide's table of what templates do past their limits is what the product does: every row has
 * requests here that are sent through the live proxy under each template, and every cell is read.
 */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingBuild, root } from '../support/product.ts';
import { startLiveWaf, type LiveWaf, type Outcome } from './live-waf.ts';

/**
 * What a request comes to: the status of its refusal or block, 0 where it is forwarded; and `event`
 * where a logged rule or a block made one.
 */
type Told = 'event' | 'no event';
type Comes = readonly [status: number, told: Told];

/** A request that shows what a cell says. */
interface Probe {
  readonly what: string;
  readonly headers?: readonly string[];
  readonly body: string;
  readonly light: Comes;
  readonly others: Comes;
}

interface Row {
  readonly light: string;
  readonly others: string;
  readonly probes: readonly Probe[];
}

const form = ['Content-Type: application/x-www-form-urlencoded'];
const json = ['Content-Type: application/json'];
const multipart = ['Content-Type: multipart/form-data; boundary=b'];
const attack = `1%27%20UNION%20SELECT%20password%20FROM%20users--%20`;
const words = (bytes: number): string => 'some plain words '.repeat(Math.ceil(bytes / 17));
const text = (bytes: number): string => words(bytes).replaceAll(' ', '+').slice(0, bytes);
/** Many short arguments: long ones have a limit of their own. */
const shortArguments = (count: number): string =>
  Array.from({ length: count }, (_, at) => `a${at}=${text(300)}`).join('&');
const part = (disposition: string, content: string): string =>
  `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n--b--\r\n`;
const file = 'name="f"; filename="a.txt"';
const kib = 1024;
const passed: Comes = [0, 'no event'];
const reported: Comes = [0, 'event'];
const blocked: Comes = [403, 'event'];
const refused = (status: number): Comes => [status, 'event'];

/** Rows by their first cell; the cells as the guide has them. */
const rows: Readonly<Record<string, Row>> = {
  'body past the inspection budget (64 KiB)': {
    light: 'event; all of it is inspected like the rest',
    others: '413',
    probes: [
      {
        what: 'below it',
        headers: form,
        body: shortArguments(190),
        light: passed,
        others: passed,
      },
      {
        what: 'past it',
        headers: form,
        body: `a=${text(80 * kib)}`,
        light: reported,
        others: refused(413),
      },
      {
        what: 'an attack past it',
        headers: form,
        body: `a=${text(200 * kib)}&b=${attack}`,
        light: blocked,
        others: refused(413),
      },
      {
        what: 'past 1 MiB',
        headers: form,
        body: `a=${text(1300 * kib)}`,
        light: reported,
        others: refused(413),
      },
      {
        what: 'an attack past 1 MiB',
        headers: form,
        body: `a=${text(1300 * kib)}&b=${attack}`,
        light: blocked,
        others: refused(413),
      },
    ],
  },
  'multipart past 12.5 MiB (`combinedFileSizes`) and budget': {
    light: '413',
    others: '413',
    probes: [
      {
        what: 'a file',
        headers: multipart,
        body: part(file, words(13 * kib * kib)),
        light: refused(413),
        others: refused(413),
      },
    ],
  },
  'multipart fields past budget and second bound': {
    light: '413',
    others: '413 past budget',
    probes: [
      {
        what: 'a field past both',
        headers: multipart,
        body: part('name="a"', words(1300 * kib)),
        light: refused(413),
        others: refused(413),
      },
      {
        what: 'a field past the budget',
        headers: multipart,
        body: part('name="a"', words(80 * kib)),
        light: reported,
        others: refused(413),
      },
    ],
  },
  'arguments, cookies, JSON depth, names, XML elements, ...': {
    light: 'event and counter; the rest is inspected',
    others: '413',
    probes: [
      {
        what: 'cookies',
        headers: [`Cookie: ${Array.from({ length: 1100 }, (_, at) => `c${at}=1`).join('; ')}`],
        body: '',
        light: reported,
        others: refused(413),
      },
    ],
  },
  'body that is not what its type says, or has none': {
    light: 'read as JSON, XML, form or text by its content',
    others: 'the same',
    probes: [
      {
        what: 'JSON without a type',
        body: JSON.stringify({ a: decodeURIComponent(attack) }),
        light: blocked,
        others: blocked,
      },
      {
        what: 'JSON that says it is text',
        headers: ['Content-Type: text/plain'],
        body: JSON.stringify({ a: decodeURIComponent(attack) }),
        light: blocked,
        others: blocked,
      },
    ],
  },
  'body that its parser refuses': {
    light: 'event; the rest is inspected after the error',
    others: '400',
    probes: [
      { what: 'JSON', headers: json, body: '{"a": "b", ', light: reported, others: refused(400) },
      {
        what: 'an attack after the error',
        headers: json,
        body: `{"a": "b" ]] "c": "${decodeURIComponent(attack)}"`,
        light: blocked,
        others: refused(400),
      },
    ],
  },
  'multipart that its parser refuses': {
    light: '400',
    others: '400',
    probes: [
      {
        what: 'a part without its name',
        headers: multipart,
        body: '--b\r\nContent-Disposition form-data\r\n\r\nx\r\n',
        light: refused(400),
        others: refused(400),
      },
    ],
  },
  'XML in an encoding that hides ASCII (UTF-7, EBCDIC, ...)': {
    light: '400',
    others: '400',
    probes: [
      {
        what: 'UTF-7',
        headers: ['Content-Type: application/xml'],
        body: `<?xml version="1.0" encoding="UTF-7"?><a>x</a>`,
        light: refused(400),
        others: refused(400),
      },
    ],
  },
};

/** What `send` does not read: the bytes say it. */
const described = {
  title: '',
  method: 'POST',
  url: '/',
  protocol: 'HTTP/1.1',
  headers: {},
  body: Buffer.alloc(0),
};
const templates = ['light', 'standard', 'strict'] as const;
const resetsMax = 10;
const timeoutMs = 30 * 60_000;
if (missingBuild !== null) console.log(missingBuild);

function isAnswerLost({ blocked, status }: Outcome): boolean {
  return blocked && status === 0;
}

/** The cells of the guide's table, by the first of each row. */
function tableOfGuide(): Record<string, { light: string; others: string }> {
  const file = path.join(root, 'deploy', 'guides', 'limits-and-templates.md');
  const guide = readFileSync(file, 'utf8');
  const section =
    guide.split('## What the templates do past their limits')[1]?.split('\n## ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  const cells = lines.slice(2).map((line) => line.split('|').map((cell) => cell.trim()));
  return Object.fromEntries(
    cells.map(([, reached = '', light = '', others = '']) => [reached, { light, others }]),
  );
}

test('every row of the table has its requests here, and every cell is as it was proved', () => {
  const expected = Object.entries(rows).map(([reached, { light, others }]) => {
    return [reached, { light, others }] as const;
  });
  expect(tableOfGuide()).toEqual(Object.fromEntries(expected));
});

describe.skipIf(missingBuild !== null)('the templates past their limits', () => {
  let waf: LiveWaf;
  beforeAll(async () => {
    waf = await startLiveWaf();
    await waf.serve(async () => {
      for (const template of templates) {
        const site = {
          name: template,
          primaryHost: `${template}.test`,
          upstreams: [{ inline: { url: waf.originUrl, weight: 1 } }],
          waf: { enabled: true, mode: 'WAF_MODE_BLOCKING', policyId: `policy-${template}` },
          status: 'RESOURCE_STATUS_ACTIVE',
        };
        await waf.ask('SiteService/CreateSite', { site });
      }
    });
  }, timeoutMs);
  afterAll(() => waf?.close(), timeoutMs);

  const cases = templates.flatMap((template) =>
    Object.entries(rows).flatMap(([reached, { probes }]) =>
      probes.map((probe) => [template, reached, probe.what, probe] as const),
    ),
  );
  test.each(cases)('%s: %s: %s', { timeout: timeoutMs }, async (template, _row, _what, probe) => {
    const { headers = [], body } = probe;
    const head = [
      'POST / HTTP/1.1',
      `Host: ${template}.test`,
      'User-Agent: Mozilla/5.0',
      'Accept: */*',
      ...headers,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ];
    const wire = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1');
    const send = (): Promise<Outcome> => {
      return waf.send({ ...described, host: `${template}.test`, wire });
    };
    let outcome = await send();
    // A reset takes the answer away from a client that still sends megabytes; its event stands.
    for (let again = 0; again < resetsMax && isAnswerLost(outcome); again++) outcome = await send();
    const told: Told = outcome.rules.length > 0 || outcome.blocked ? 'event' : 'no event';
    expect([outcome.status, told], outcome.rules.join(' ')).toEqual(
      template === 'light' ? probe.light : probe.others,
    );
  });
});
