/** An audit record with the evidence of its request, on its way from a node to a SIEM target. */

import { readFileSync } from 'node:fs';
import { connect as connectSocket, createServer, type AddressInfo } from 'node:net';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../../base/log.ts';
import type { AnswerBody } from '../../engine/contract/evidence.ts';
import type { TransactionRecord } from '../../engine/contract/verdict.ts';
import type { ControllerLink } from '../../engine/link/controller-link.ts';
import { EvidenceUploads } from '../../engine/link/evidence-uploads.ts';
import { eventually } from '../../test/support/eventually.ts';
import { sampleEvent, sampleMatch } from '../../test/support/sample-event.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { connectTestLink } from '../../test/support/test-link.ts';

interface AuditRecord {
  readonly transaction: {
    readonly request: { readonly body: string; readonly headers: Record<string, string> };
    readonly response: {
      readonly http_code: number;
      readonly headers: Record<string, string>;
      readonly body: string;
    };
    readonly messages: readonly { readonly message: string }[];
  };
}

const recorded = JSON.parse(
  readFileSync(new URL('modsecurity-audit-post.json', import.meta.url), 'utf8'),
) as AuditRecord;
let waf: TestControl;
let link: ControllerLink;
const lines: string[] = [];
const server = createServer((socket) => {
  let text = '';
  socket.on('error', () => socket.destroy());
  socket.on('data', (piece: Buffer) => {
    text += piece.toString();
    const whole = text.split('\n');
    text = whole.pop() ?? '';
    lines.push(...whole);
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  waf = await startTestControl();
  link = connectTestLink(waf.socket, [], () => Promise.resolve());
  const { port } = server.address() as AddressInfo;
  const where = { transport: 'tcp', framing: 'newline', host: '127.0.0.1', port };
  const target = { id: 'audit', format: 'audit', evidence: true, ...where };
  const values = { 'siem.targets': [target], 'outgoing.allowed_networks': ['127.0.0.0/8'] };
  const { status, text } = await waf.call('SystemService/UpdateSystemSettings', { values });
  if (status !== 200) throw new Error(text);
});
afterAll(async () => {
  await link.close();
  await waf.control.close();
  server.close();
});

const head =
  'Host: 127.0.0.1:18444\r\nUser-Agent: curl/7.88.1\r\nCookie: s=1\r\nAccept: */*\r\n' +
  'X-Probe: yes\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 22\r\n' +
  'Content-Type: application/x-www-form-urlencoded';
/** As the recorded server answered. */
const answerHead = Object.entries(recorded.transaction.response.headers)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');
const body = 'q=1 UNION SELECT 2&a=b';

/** One blocked request, as a node tells of it: a fact and, apart from it, its evidence. */
function attack(requestId: string, bodyBytes: number, answerBody?: AnswerBody): Promise<void> {
  const receivedAtMs = Date.now();
  const matchedRules = [sampleMatch({ ver: 'OWASP_CRS/3.3.4', tags: ['attack-sqli'] })];
  const found = { matchedRules, inboundScore: 5, outboundScore: 0, detectionOnly: false };
  const transaction = { ...found, inspectionUs: 5 } as unknown as TransactionRecord;
  const blocked = { status: 403, outcome: 'blocked', blocked: true, method: 'POST' } as const;
  link.observe(sampleEvent({ ...blocked, requestId, siteId: '', receivedAtMs, transaction }));
  const transport = () =>
    createConnectTransport({
      baseUrl: 'http://control',
      httpVersion: '2',
      nodeOptions: { createConnection: () => connectSocket(waf.socket) },
    });
  const uploads = new EvidenceUploads({ agentId: 'local', transport, logger: silentLogger });
  const headers = new Uint8Array(Buffer.from(head));
  const request = { method: 'POST', host: 'a.example', target: '/', httpVersion: 'HTTP/1.1' };
  const when = { receivedAtMs, completedAtMs: receivedAtMs + 1, clientIp: '192.0.2.1' };
  const random = Buffer.from(requestId).toString('hex');
  const id = `ev-${String(receivedAtMs).padStart(14, '0')}-${random}`;
  const stated = { id, requestId, siteId: '', reason: 'security', lack: '' } as const;
  const content = { headerBytes: head.length, headers, bodyBytes, body: Buffer.from(body) };
  const answer = { status: 403, headers: Buffer.from(answerHead), truncated: false };
  const answered = answerBody && { answerBody };
  uploads.add([{ ...stated, ...request, ...when, ...content, answer, ...answered }], 0);
  return eventually(() => uploads.stats().waiting === 0).then(() => uploads.close());
}

async function recordOf(requestId: string): Promise<AuditRecord> {
  const line = await eventually(() => lines.find((one) => one.includes(requestId)) ?? null);
  return JSON.parse(line.slice(line.indexOf('{'))) as AuditRecord;
}

/** Names of all fields, in their nesting; elements of a list count together. */
function namesOf(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => namesOf(one, `${at}[]`));
  if (typeof value !== 'object' || value === null) return [`${at}: ${typeof value}`];
  return Object.entries(value).flatMap(([name, one]) => namesOf(one, `${at}.${name}`));
}

/** Without components: the recorded rules name none. */
function compared(record: AuditRecord): string[] {
  const left = /\.components\[\]/;
  return [...new Set(namesOf(record))].filter((name) => !left.test(name)).sort();
}

test('names and nesting equal the recorded log, with the same request headers and body', async () => {
  const page = Buffer.from(recorded.transaction.response.body);
  await attack('request-one', body.length, { bytes: page, lack: '' });
  const ours = await recordOf('request-one');
  expect(compared(ours)).toEqual(compared(recorded));
  expect(compared(recorded).length).toBeGreaterThan(35);
  const wanted = recorded.transaction.request;
  expect(ours.transaction.request.body).toBe(wanted.body);
  expect(ours.transaction.response).toMatchObject({
    http_code: 403,
    headers: recorded.transaction.response.headers,
    body: recorded.transaction.response.body,
  });
  // ModSecurity writes a name twice; a reader of JSON keeps the last of them.
  expect(ours.transaction.request.headers).toEqual({ ...wanted.headers, 'X-A': '1, 2' });
});

test('a body that is not whole is said to be cut', async () => {
  await attack('request-two', 99_999);
  const { messages } = (await recordOf('request-two')).transaction;
  const said = messages.map(({ message }) => message);
  expect(said).toContain(`the request body is cut: ${body.length} of 99999 bytes`);
  expect(said).toContain('the response body is absent: the node was not asked for it');
});

test('a response body that is not there or not whole has its reason', async () => {
  await attack('request-three', body.length, { bytes: Buffer.from('<ht'), lack: 'cut' });
  await attack('request-four', body.length, { bytes: Buffer.alloc(0), lack: 'not_held' });
  const shown = async (requestId: string) => {
    const { response, messages } = (await recordOf(requestId)).transaction;
    return [response.body, messages.at(-1)?.message];
  };
  expect(await shown('request-three')).toEqual(['<ht', 'the response body is cut after 3 bytes']);
  const absent = 'the response body is absent: the rules did not inspect it';
  expect(await shown('request-four')).toEqual(['', absent]);
});
