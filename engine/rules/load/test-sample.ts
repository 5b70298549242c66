/**
 * Small transactions for tests: settings, ports and a head from text. Never used at run time.
 */

import { type ByteString, fromByteString } from '../../../base/byte-string.ts';
import {
  type MessageHead,
  type RequestSnapshot,
  type ResponseSnapshot,
  SPAN,
} from '../../contract/message.ts';
import type { RulePorts } from '../transaction/ports.ts';
import { Transaction } from '../transaction/transaction.ts';
import type { ProgramSettings } from '../transaction/types.ts';
import type { SourceId } from '../transaction/values.ts';
import { loadRequestBody } from './request-body.ts';
import { loadRequestHead } from './request-head.ts';

/** Everything on, limits that no table reaches. */
export const sampleSettings: ProgramSettings = {
  engine: 'on',
  requestBodyAccess: true,
  responseBodyAccess: true,
  requestBodyLimitBytes: 1_000_000,
  requestBodyNoFilesLimitBytes: 0,
  requestBodyLimitAction: 'reject',
  requestBodyExcessBytes: 0,
  requestBodyExcessAction: 'off',
  requestBodyInspectionLimitBytes: 0,
  multipartBodyLimitBytes: 0,
  inspectsUnparsed: false,
  decision: 'crs',
  scoreWeights: 'none',
  watchScore: 0,
  challengeScore: 0,
  blockScore: 0,
  responseBodyLimitBytes: 1_000_000,
  responseBodyLimitAction: 'reject',
  responseBodyMimeTypes: ['text/html'],
  argumentsMax: 1000,
  argumentSeparator: '&',
  pathReadings: true,
  renamedValues: false,
  jsonDepthMax: 100,
  uploadFilesMax: 100,
  collectionTimeoutSeconds: 3600,
  parseXmlIntoArgs: 'off',
  pcreMatchLimit: 1000,
  auditEngine: 'off',
  auditLogParts: 'A',
  componentSignatures: [],
  webAppId: '',
  sensorId: '',
  unicodeMap: null,
};

/** Time stands still at 2024-05-06 07:08:09 UTC unless a test sets another. */
export const samplePorts: RulePorts = {
  clock: { nowMs: () => Date.UTC(2024, 4, 6, 7, 8, 9), monotonicUs: () => 1_000_000 },
  collections: null,
  geo: null,
  rbl: null,
  env: new Map(),
};

/** A head from CRLF text without its empty line; three words in the first line. */
export function headFrom(text: ByteString): MessageHead {
  const lines = text.split('\r\n');
  const words = splitLine(lines[0]!);
  const spans: number[] = [0, lines[0]!.length, ...words.flat(), lines.length - 1];
  let at = lines[0]!.length + 2;
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(':');
    const value = line.slice(colon + 1).trimStart();
    spans.push(at, at + colon, at + line.length - value.length, at + line.length);
    at += line.length + 2;
  }
  if (spans.length !== SPAN.fields + 4 * (lines.length - 1)) throw new Error('bad sample head');
  return { bytes: fromByteString(text), spans: Int32Array.from(spans) };
}

function splitLine(line: string): [number, number][] {
  const first = line.indexOf(' ');
  const last = line.lastIndexOf(' ');
  return [
    [0, first],
    [first + 1, last],
    [last + 1, line.length],
  ];
}

/** A request with the usual addresses. */
export function requestFrom(head: ByteString): RequestSnapshot {
  return {
    requestId: 'req-1',
    receivedAtMs: 0,
    siteId: 'site',
    connection: {
      clientIp: '200.249.12.31',
      clientPort: 123,
      peerIp: '200.249.12.31',
      serverIp: '200.249.12.11',
      serverPort: 80,
      scheme: 'http',
    },
    head: headFrom(head),
  };
}

/** An answer; the reason phrase must be one word. */
export function responseFrom(head: ByteString): ResponseSnapshot {
  const made = headFrom(head);
  const { spans } = made;
  const protocol = [spans[SPAN.firstStart]!, spans[SPAN.firstEnd]!];
  spans.copyWithin(SPAN.firstStart, SPAN.secondStart, SPAN.protocolEnd + 1);
  spans.set(protocol, SPAN.protocolStart);
  return { status: Number(head.split(' ')[1]), head: made };
}

/** A transaction after `loadRequestHead`. */
export function transactionFor(
  head: ByteString,
  settings: Partial<ProgramSettings> = {},
): Transaction {
  const tx = new Transaction();
  tx.begin(requestFrom(head), { ...sampleSettings, ...settings }, samplePorts);
  loadRequestHead(tx);
  return tx;
}

/** A POST whose body was read by the processor of that name. */
export function transactionWithBody(
  processor: string,
  body: ByteString | Uint8Array,
  settings: Partial<ProgramSettings> = {},
  truncated = false,
): Transaction {
  const tx = transactionFor('POST / HTTP/1.1\r\nHost: a', settings);
  tx.control.requestBodyProcessor = processor;
  const bytes = typeof body === 'string' ? fromByteString(body) : body;
  loadRequestBody(tx, { bytes, truncated });
  return tx;
}

/** Rows of a source as `key=value` texts. */
export function rowTexts(tx: Transaction, source: SourceId): string[] {
  return tx.values.rowsOf(source).map((row) => `${tx.values.key(row)}=${tx.values.value(row)}`);
}

/** What is wrong with the table's offsets; empty when every row stands inside the used slab. */
export function misplacedRows(tx: Transaction): number[] {
  const { values } = tx;
  return Array.from({ length: values.count }, (_, row) => row).filter(
    (row) =>
      values.keyStart[row]! < 0 ||
      values.keyEnd[row]! < values.keyStart[row]! ||
      values.keyEnd[row]! > values.used ||
      values.start[row]! < 0 ||
      values.end[row]! < values.start[row]! ||
      values.end[row]! > values.used,
  );
}
