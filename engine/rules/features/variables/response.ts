/** The variables of the origin's answer; unset before phase 3. */

import { type ByteString, toByteString } from '../../../../base/byte-string.ts';
import { SPAN } from '../../../contract/message.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import type { VariableDefinition } from '../../transaction/types.ts';
import { SOURCE } from '../../transaction/values.ts';
import { firstValue, rowCollection, rowScalar, scalar } from './define.ts';

/** In the order of the message. */
export const responseVariables: readonly VariableDefinition[] = [
  scalar(
    {
      name: 'STATUS_LINE',
      summary: 'The status line as received.',
      example: 'SecRule STATUS_LINE "@contains 500"',
    },
    (tx) => partOfHead(tx, SPAN.lineStart),
  ),
  scalar(
    {
      name: 'RESPONSE_PROTOCOL',
      summary: 'Protocol of the answer.',
      example: 'SecRule RESPONSE_PROTOCOL "^HTTP/1"',
    },
    (tx) => partOfHead(tx, SPAN.protocolStart),
  ),
  scalar(
    {
      name: 'RESPONSE_STATUS',
      aliases: ['STATUS'],
      summary: 'The status code: that of the origin, or of the answer that a rule gave instead.',
      example: 'SecRule RESPONSE_STATUS "^[45]"',
    },
    (tx) => (tx.answeredStatus > 0 ? tx.answeredStatus : (tx.response?.status ?? null)),
  ),
  rowCollection(
    {
      name: 'RESPONSE_HEADERS',
      summary: 'Header fields of the answer.',
      example: 'SecRule RESPONSE_HEADERS:X-Cache "MISS"',
    },
    [SOURCE.responseHeader],
  ),
  rowCollection(
    {
      name: 'RESPONSE_HEADERS_NAMES',
      summary: 'Names of RESPONSE_HEADERS.',
      example: 'SecRule RESPONSE_HEADERS_NAMES "Set-Cookie"',
    },
    [SOURCE.responseHeader],
    'key',
  ),
  scalar(
    {
      name: 'RESPONSE_CONTENT_TYPE',
      summary: 'Media type of the answer, without parameters.',
      example: 'SecRule RESPONSE_CONTENT_TYPE "^text/"',
    },
    (tx) =>
      tx.response === null
        ? null
        : (firstValue(tx, SOURCE.responseHeader, 'content-type') ?? '').split(';', 1)[0]!.trim(),
  ),
  scalar(
    {
      name: 'RESPONSE_CONTENT_LENGTH',
      summary: 'Bytes of the inspected body, or what Content-Length says before it came.',
      example: 'SecRule RESPONSE_CONTENT_LENGTH "@gt 100000"',
    },
    contentLength,
  ),
  rowScalar(
    {
      name: 'RESPONSE_BODY',
      summary: 'The inspected body.',
      example: 'SecRule RESPONSE_BODY "@contains ORA-"',
    },
    SOURCE.responseBody,
  ),
  scalar(
    {
      name: 'OUTBOUND_DATA_ERROR',
      summary: '1 when the answer went past the inspection limit.',
      example: 'SecRule OUTBOUND_DATA_ERROR "@eq 1"',
    },
    (tx) => tx.outboundDataError,
  ),
];

function partOfHead(tx: Transaction, span: number): ByteString | null {
  if (tx.response === null) return null;
  const { bytes, spans } = tx.response.head;
  return toByteString(bytes, spans[span]!, spans[span + 1]!);
}

function contentLength(tx: Transaction): ByteString | number | null {
  if (tx.response === null) return null;
  if (tx.responseBodyPresent) return tx.responseBodyBytes;
  return firstValue(tx, SOURCE.responseHeader, 'content-length') ?? 0;
}
