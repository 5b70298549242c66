/**
 * Tables of sentences on what is observed. Beside RPCs, rows act as a node (`node`, `event`,
 * `evidence`, `endpoints`), ask over plain HTTP (`http`), read streams (`stream`) and what SIEM
 * targets got (`siem`). `as` names the user who asks; `until` repeats a row until it holds.
 */

import { connect as connectSocket, createServer, type AddressInfo, type Server } from 'node:net';
import { request as httpRequest } from 'node:http';
import { fromJson, toJson, type DescMethodStreaming, type JsonValue } from '@bufbuild/protobuf';
import type { Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { expect } from 'vitest';
import { silentLogger } from '../../base/log.ts';
import type { RequestEvent } from '../../engine/contract/events.ts';
import type { EvidenceRecord } from '../../engine/contract/evidence.ts';
import {
  passVerdict,
  type MatchedRule,
  type TransactionRecord,
} from '../../engine/contract/verdict.ts';
import { FrontCounters } from '../../engine/front/facts/counters.ts';
import { FrontRankings } from '../../engine/front/facts/rankings.ts';
import type { ControllerLink } from '../../engine/link/controller-link.ts';
import { EvidenceUploads } from '../../engine/link/evidence-uploads.ts';
import { LogService } from '../../proto/gen/waf/v1/log_pb.ts';
import { eventually } from './eventually.ts';
import { expectRow, expectValue, RuleTable, type RuleRow } from './rule-table.ts';
import { sampleEvent, sampleMatch } from './sample-event.ts';
import type { Answer, TestControl } from './test-control.ts';
import { connectTakingLink } from './test-link.ts';

/** A row; see the header. */
export interface LogRow extends RuleRow {
  readonly as?: string;
  readonly until?: true;
  /** Texts that the answer must hold, and must not. */
  readonly holds?: readonly string[];
  readonly omits?: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/** The rows of one table, run in order against one control. */
export class LogRows {
  readonly table = new RuleTable();
  /** Tokens by the name of the user. */
  readonly tokens = new Map<string, string>();
  private readonly waf: TestControl;
  private readonly received = new Map<string, string[]>();
  private readonly servers: Server[] = [];
  private link: ControllerLink | null = null;

  constructor(waf: TestControl) {
    this.waf = waf;
  }

  /** Ends the node, the receivers and control. */
  async close(): Promise<void> {
    await this.link?.close();
    await this.waf.control.close();
    for (const server of this.servers) server.close();
  }

  /** A TCP receiver of lines under a name; its port is known as that name with `Port`. */
  async receive(name: string): Promise<void> {
    const lines: string[] = [];
    this.received.set(name, lines);
    const server = createServer((socket) => {
      let text = '';
      socket.on('error', () => socket.destroy());
      socket.on('data', (piece: Buffer) => {
        const whole = (text + piece.toString()).split('\n');
        text = whole.pop() ?? '';
        lines.push(...whole);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.table.known.set(`${name}Port`, (server.address() as AddressInfo).port);
    this.servers.push(server);
  }

  /** Runs a row and holds what comes of it against the row. */
  async run(row: LogRow): Promise<void> {
    if (row.until === undefined) return this.once(row);
    let last: unknown = null;
    try {
      await eventually(async () => {
        try {
          await this.once(row);
          return true;
        } catch (error) {
          last = error;
          return false;
        }
      });
    } catch (error) {
      throw last ?? error;
    }
  }

  private async once(row: LogRow): Promise<void> {
    const { table } = this;
    const body = table.resolve(row.body) as Fields;
    switch (row.rpc) {
      case 'node':
        if (this.link === null) this.link = await connectTakingLink(this.waf.socket);
        return this.note();
      case 'nodeGone':
        await this.link?.close();
        this.link = null;
        return this.note();
      case 'event':
        this.observe(body);
        return this.note();
      case 'endpoints':
        this.node().learnEndpoints([body as never]);
        return this.note();
      case 'evidence':
        await this.upload(body);
        return this.note();
      case 'http':
        return this.hold(row, await this.ask(body, row.as));
      case 'stream':
        return this.hold(row, await this.read(body));
      case 'lines':
        return this.hold(row, { lines: linesOf(String(body['from'])) });
      case 'siem':
        return this.hold(row, this.messages(String(body['target'])));
      default:
        return this.call(row, body);
    }
  }

  private note(): void {
    this.table.ran++;
  }

  private hold(row: LogRow, value: object): void {
    const { holds = [], omits = [] } = row;
    expectTexts(JSON.stringify(value), this.texts(holds), this.texts(omits));
    expectValue(this.table, value, row);
  }

  private texts(list: readonly string[]): readonly string[] {
    return this.table.resolve(list) as readonly string[];
  }

  private async call(row: LogRow, body: Fields): Promise<void> {
    const token = row.as === undefined ? undefined : this.tokens.get(row.as);
    if (token === undefined && row.holds === undefined && row.omits === undefined) {
      return expectRow(this.table, this.waf, row);
    }
    const answer = await this.waf.call(row.rpc, body, token === undefined ? {} : { token });
    expectAnswer(answer, row);
    this.hold(row, answer.body);
  }

  private node(): ControllerLink {
    if (this.link === null) throw new Error('no row connected a node');
    return this.link;
  }

  /** One finished request, counted, ranked, and sent as selected; `pad` lengthens it. */
  private observe({ rules, pad, ...fields }: Fields): void {
    const long = pad === undefined ? {} : { userAgent: 'x'.repeat(Number(pad)) };
    const event = sampleEvent({
      ...fields,
      ...long,
      ...inspected(rules, fields['blocked']),
    } as Partial<RequestEvent>);
    const counters = new FrontCounters();
    const rankings = new FrontRankings();
    const policy = this.table.known.get('policy');
    counters.add(event, typeof policy === 'string' ? policy : '');
    rankings.add(event);
    const link = this.node();
    link.count(counters.drain());
    link.rank(rankings.drain());
    link.observe(event);
  }

  private async upload({ headers = '', body = '', ...fields }: Fields): Promise<void> {
    const receivedAtMs = Number(fields['receivedAtMs']);
    const lines = Buffer.from(String(headers));
    const content = Buffer.from(String(body));
    const requestId = String(fields['requestId']);
    const number = Buffer.from(requestId).toString('hex');
    const record = {
      id: `ev-${String(receivedAtMs).padStart(14, '0')}-${number}`,
      ...{ siteId: '', clientIp: '192.0.2.1', httpVersion: 'HTTP/1.1', reason: 'security' },
      ...{ method: 'GET', host: 'a.example', target: '/', lack: '' },
      completedAtMs: receivedAtMs + 5,
      ...{ headerBytes: lines.length, headers: lines, bodyBytes: content.length, body: content },
      answer: { status: 403, headers: Buffer.alloc(0), truncated: false },
      ...fields,
    } as unknown as EvidenceRecord;
    const uploads = new EvidenceUploads({
      agentId: 'local',
      transport: () => this.transport(),
      logger: silentLogger,
    });
    uploads.add([record], 0);
    await eventually(() => uploads.stats().waiting === 0);
    await uploads.close();
    this.table.known.set(`evidence-${requestId}`.replace(/\W/g, '_'), record.id);
  }

  private transport(): Transport {
    const createConnection = () => connectSocket(this.waf.socket);
    const nodeOptions = { createConnection };
    return createConnectTransport({ baseUrl: 'http://control', httpVersion: '2', nodeOptions });
  }

  /** Some messages of a stream and how it failed; events `meanwhile` come after the first. */
  private async read({ method, body = {}, take = 100, meanwhile }: Fields): Promise<object> {
    const found = LogService.methods.find(({ name }) => name === method)!;
    const streaming = found as DescMethodStreaming;
    const messages: JsonValue[] = [];
    const events = (meanwhile ?? []) as readonly Fields[];
    const ending = new AbortController();
    let problem = '';
    try {
      const input = fromJson(streaming.input, body as JsonValue);
      const sent = (async function* () {
        yield input;
      })();
      const opened = this.transport().stream(streaming, ending.signal, undefined, undefined, sent);
      for await (const message of (await opened).message) {
        messages.push(toJson(streaming.output, message));
        if (messages.length === 1) for (const one of events) this.observe(one);
        if (messages.length >= Number(take)) break;
      }
    } catch (error) {
      problem = (error as Error).message;
    }
    ending.abort();
    return { messages, problem };
  }

  private messages(target: string): object {
    const messages = (this.received.get(target) ?? []).map((line) => ({
      head: line.slice(0, line.indexOf('{')),
      content: JSON.parse(line.slice(line.indexOf('{'))) as unknown,
    }));
    return { last: messages.at(-1) ?? null, count: messages.length };
  }

  private ask({ method = 'GET', path, over = 'network', send }: Fields, as?: string) {
    const token = as === undefined ? undefined : this.tokens.get(as);
    const { socket, control } = this.waf;
    const where =
      over === 'socket'
        ? { socketPath: socket }
        : { host: '127.0.0.1', port: control.managementPort };
    const headers = {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const options = { ...where, method: String(method), path: String(path), headers, agent: false };
    return new Promise<object>((resolve, reject) => {
      const request = httpRequest(options, (response) => {
        let text = '';
        response.on('data', (piece: Buffer) => (text += piece.toString()));
        response.on('end', () => {
          const type = response.headers['content-type'] ?? '';
          const body = type === 'application/json' && text !== '' ? JSON.parse(text) : null;
          resolve({ status: response.statusCode, type, body, ...(body === null && { text }) });
        });
      });
      request.on('error', reject);
      request.end(send === undefined ? '' : JSON.stringify(send));
    });
  }
}

/** The code of an answer and how its message begins are what the row says. */
function expectAnswer({ body, text }: Answer, row: LogRow): void {
  expect({ code: body['code'], text }).toEqual({ code: row.code, text });
  const message = (body['message'] ?? '') as string;
  expect(message.slice(0, row.at?.length ?? 0)).toBe(row.at ?? '');
}

/** Within a text of an answer, quotes are escaped. */
function expectTexts(text: string, holds: readonly string[], omits: readonly string[]): void {
  const has = (one: string): boolean =>
    text.includes(one) || text.includes(JSON.stringify(one).slice(1, -1));
  for (const one of holds) expect(has(one), `${text} holds ${one}`).toBe(true);
  for (const one of omits) expect(has(one), `${text} holds ${one}`).toBe(false);
}

/** What inspection left, of rules with these fields. */
function inspected(rules: unknown, blocked: unknown): { readonly transaction?: TransactionRecord } {
  if (!Array.isArray(rules)) return {};
  const matchedRules = rules.map((one) => sampleMatch(one as Partial<MatchedRule>));
  const block = { action: 'block', status: 403, ruleId: 949110, phase: 2 } as const;
  const verdict = blocked === true ? block : passVerdict;
  const scores = { inboundScore: 5 * rules.length, outboundScore: 0, inspectionUs: 40 };
  return { transaction: { verdict, matchedRules, ...scores, detectionOnly: false } };
}

/** The values of base64 NDJSON. */
function linesOf(base64: string): unknown[] {
  const text = Buffer.from(base64, 'base64').toString();
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
}
