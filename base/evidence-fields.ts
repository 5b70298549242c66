/** What evidence says of a request, from its texts and header lines as they came. Pure. */

import type { PackedEvidence } from './evidence-layout.ts';

/** A header field with its values in their order; decoded texts. */
export interface EvidenceField {
  readonly name: string;
  readonly values: string[];
}

/** The parts of a record that say what it is. */
export type DescribedEvidence = Omit<PackedEvidence, 'answer' | 'answerBody'>;

/** The metadata of evidence but for its node and its times, named as in the API. */
export function describeEvidence(record: DescribedEvidence, fields: readonly EvidenceField[]) {
  const { headers, headerBytes, body, bodyBytes, lack } = record;
  const valuesOf = (name: string): readonly string[] =>
    fields.filter((field) => field.name.toLowerCase() === name).flatMap(({ values }) => values);
  const length = valuesOf('content-length')[0] ?? '';
  return {
    evidenceId: record.id,
    available: headers.length + body.length > 0,
    headerOriginalBytes: BigInt(headerBytes),
    headerCapturedBytes: BigInt(headers.length),
    bodyOriginalBytes: BigInt(bodyBytes),
    bodyCapturedBytes: BigInt(body.length),
    headerTruncated: headers.length < headerBytes,
    bodyTruncated: body.length < bodyBytes,
    unavailableReason: lack === '' ? emptyReason(record) : lack,
    requestId: record.requestId,
    siteId: record.siteId,
    reason: record.reason,
    method: textOf(record.method),
    host: textOf(record.host),
    requestTarget: textOf(record.target),
    contentType: valuesOf('content-type')[0] ?? '',
    contentEncoding: valuesOf('content-encoding').join(', '),
    transferEncodings: [...valuesOf('transfer-encoding')],
    clientIp: record.clientIp,
    httpVersion: record.httpVersion,
    contentLength: /^\d{1,15}$/.test(length) ? BigInt(length) : 0n,
  };
}

/** Why a record that lacks nothing by itself holds nothing; '' where it holds something. */
function emptyReason({ headers, headerBytes, body, bodyBytes }: DescribedEvidence): string {
  if (headers.length + body.length > 0) return '';
  // A head that could not be read at all has no fields; a first field may be longer than the bound.
  return headerBytes + bodyBytes === 0 ? 'nothing_read' : 'too_large';
}

/** Header fields of lines as they came; a line that continues the one before belongs to it. */
export function evidenceFields(lines: Uint8Array): EvidenceField[] {
  const fields = new Map<string, EvidenceField>();
  let last: EvidenceField | null = null;
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.length).toString('latin1');
  for (const line of text.split('\n')) {
    const whole = textOf(line.replace(/\r$/, ''));
    if (whole === '') continue;
    if (/^[ \t]/.test(whole) && last !== null) {
      last.values.push(`${last.values.pop() ?? ''} ${whole.trim()}`);
      continue;
    }
    const colon = whole.indexOf(':');
    const name = colon < 0 ? whole : whole.slice(0, colon);
    const key = name.toLowerCase();
    last = fields.get(key) ?? { name, values: [] };
    fields.set(key, last);
    last.values.push(colon < 0 ? '' : whole.slice(colon + 1).trim());
  }
  return [...fields.values()];
}

/** UTF-8 where it is that, else each byte a character: no byte is lost. */
function textOf(bytes: string): string {
  if (!/[\u0080-\u00ff]/.test(bytes)) return bytes;
  const decoded = Buffer.from(bytes, 'latin1').toString('utf8');
  return decoded.includes('\ufffd') ? bytes : decoded;
}
