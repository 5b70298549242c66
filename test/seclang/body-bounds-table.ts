/** The rows on the two bounds of the inspection of bodies: where an attack stands, what is set. */

import type { PolicyJson } from '../../proto/gen/waf/v1/policy_pb.ts';

type Core = NonNullable<PolicyJson['crsCore']>;

/** A body around an attack, which stands after some padding. */
export interface BodyKind {
  readonly says: string;
  readonly type: string;
  readonly of: (paddingBytes: number) => Buffer;
}

/** What the rule of the test looks for, once decoded. */
export const attack = '<evil>';
/** The inspection budget of all rows, bytes. */
export const budget = 1_000;

const filler = 'padding of harmless words, ';
const text = (bytes: number): string => filler.repeat(Math.ceil(bytes / filler.length));
const around = (start: string, end: string, piece = text): ((bytes: number) => Buffer) => {
  return (bytes) => Buffer.from(`${start}${piece(bytes)}${end}`);
};
const fields = (bytes: number): string => 'a-name=with-its-value&'.repeat(Math.ceil(bytes / 22));
const escaped = '\\u003cevil\\u003e';
const entities = '&lt;evil&gt;';
const elements = (bytes: number): string => '<b>words</b>'.repeat(Math.ceil(bytes / 12));

/** Every way in which bodies are read. */
const bodyKinds: readonly BodyKind[] = [
  {
    says: 'form, one long value',
    type: 'application/x-www-form-urlencoded',
    of: around('a=', '&b=%3Cevil%3E&c=1'),
  },
  {
    says: 'form, an attack within a long value',
    type: 'application/x-www-form-urlencoded',
    of: around('a=', '+%3Cevil%3E'),
  },
  { says: 'JSON', type: 'application/json', of: around('{"a":"', `","b":"${escaped}"}`) },
  {
    says: 'JSON in UTF-16',
    type: 'application/json',
    of: (bytes) => Buffer.from(`{"a":"${text(bytes / 2)}","b":"${escaped}"}`, 'utf16le'),
  },
  { says: 'JSON without a type', type: '', of: around('{"a":"', `","b":"${escaped}"}`) },
  {
    says: 'JSON after blanks, without a type',
    type: '',
    of: around('', `{"b":"${escaped}"}`, (bytes) => ' '.repeat(bytes)),
  },
  {
    says: 'XML, text',
    type: 'text/xml',
    of: around('<a>', `<c>${entities}</c></a>`, elements),
  },
  {
    says: 'XML, an attribute',
    type: 'application/xml',
    of: around('<a>', `<c d="${entities}"/></a>`),
  },
  {
    says: 'XML, a long CDATA section',
    type: 'text/xml',
    of: around('<a><![CDATA[', `<evil>${text(70_000)}]]></a>`),
  },
  { says: 'text', type: 'text/plain', of: around('', '<evil>') },
  { says: 'no type', type: '', of: around('', '<evil> and more') },
  {
    says: 'a form without a type',
    type: '',
    of: around('', 'b=%3Cevil%3E', fields),
  },
  {
    says: 'binary data',
    type: 'application/octet-stream',
    of: (bytes) =>
      Buffer.concat([Buffer.alloc(bytes, 0x81), Buffer.from(`a text of words ${attack} in it`)]),
  },
];

const boundary = '--xyz';
const part = (named: string, content: string): string =>
  `${boundary}\r\nContent-Disposition: form-data; ${named}\r\n\r\n${content}`;
const attackPart = `\r\n${part('name="b"', attack)}\r\n${boundary}--\r\n`;

/** Multipart forms, which have limits of their own but where they are observed. */
const forms: readonly BodyKind[] = [
  {
    says: 'multipart, after a long field',
    type: 'multipart/form-data; boundary=xyz',
    of: around(part('name="a"', ''), attackPart),
  },
  {
    says: 'multipart, an attack within a long field',
    type: 'multipart/form-data; boundary=xyz',
    of: around(part('name="a"', ''), `${attack}\r\n${boundary}--\r\n`),
  },
  {
    says: 'multipart, after a file',
    type: 'multipart/form-data; boundary=xyz',
    of: around(part('name="a"; filename="a.txt"', ''), attackPart),
  },
  {
    says: 'multipart, after many fields',
    type: 'multipart/form-data; boundary=xyz',
    of: around('', attackPart, (bytes) =>
      Array.from({ length: Math.min(200, Math.ceil(bytes / 400)) }, (_, at) =>
        part(`name="n${at}"`, text(Math.max(200, bytes / 200))),
      ).join('\r\n'),
    ),
  },
];

/** The kinds of bodies to which the settings of a row apply. */
export function kindsOf({ core }: BoundRow): readonly BodyKind[] {
  const observed = core.requestBodyLimitAction === 'REQUEST_BODY_LIMIT_ACTION_OBSERVE';
  const blocks = core.requestBodyExcessAction === 'REQUEST_BODY_EXCESS_ACTION_BLOCK';
  return observed && !blocks ? [...bodyKinds, ...forms] : bodyKinds;
}

/** What comes of a request. */
export interface BoundExpected {
  readonly status: number;
  /** Whether the rule matched, and where: before the windows, in one, or nowhere. */
  readonly found?: 'before' | 'window' | 'nowhere';
  /** Whether the event counts bytes that nobody looked at. */
  readonly uninspected?: boolean;
}

/** Settings, the bytes before the attack, and what is expected for every kind of body. */
export interface BoundRow {
  readonly says: string;
  readonly core: Core;
  readonly padding: number;
  readonly expected: BoundExpected;
  readonly engineState?: PolicyJson['engineState'];
  /** Mode of the site; default: blocking. */
  readonly mode?: 'blocking' | 'detection';
}

/** OBSERVE, with what it does to the rest left to its default. */
export const observe = { requestBodyLimitAction: 'REQUEST_BODY_LIMIT_ACTION_OBSERVE' } as const;
const block: Core = { ...observe, requestBodyExcessAction: 'REQUEST_BODY_EXCESS_ACTION_BLOCK' };
const record: Core = { ...observe, requestBodyExcessAction: 'REQUEST_BODY_EXCESS_ACTION_RECORD' };
const off: Core = { ...observe, requestBodyExcessAction: 'REQUEST_BODY_EXCESS_ACTION_OFF' };
const stops: BoundExpected = { status: 403, found: 'before', uninspected: false };
const stopsInWindow: BoundExpected = { status: 403, found: 'window', uninspected: false };
const records: BoundExpected = { status: 200, found: 'window', uninspected: false };
const misses: BoundExpected = { status: 200, found: 'nowhere', uninspected: true };
const held = 1_048_576;

/** All combinations of what is set and where the attack stands. */
export const boundRows: readonly BoundRow[] = [
  { says: 'OBSERVE alone, within the budget', core: observe, padding: 100, expected: stops },
  { says: 'OBSERVE alone, after the budget', core: observe, padding: 3_000, expected: records },
  { says: 'OBSERVE alone, windows later', core: observe, padding: 200_000, expected: records },
  {
    says: 'OBSERVE alone, after its last bound',
    core: observe,
    padding: held + 80_000,
    expected: misses,
  },
  { says: 'RECORD, after the budget', core: record, padding: 3_000, expected: records },
  {
    says: 'RECORD with a bound, after it',
    core: { ...record, requestBodyInspectionLimit: '100000' },
    padding: 180_000,
    expected: misses,
  },
  {
    says: 'RECORD of the whole body',
    core: { ...record, requestBodyInspectionLimit: '1073741824' },
    padding: held + 80_000,
    expected: records,
  },
  { says: 'OFF, within the budget', core: off, padding: 100, expected: stops },
  { says: 'OFF, after the budget', core: off, padding: 3_000, expected: misses },
  { says: 'BLOCK, within the budget', core: block, padding: 100, expected: stops },
  { says: 'BLOCK, after the budget', core: block, padding: 3_000, expected: stops },
  {
    says: 'BLOCK, after what is held',
    core: block,
    padding: held + 80_000,
    expected: stopsInWindow,
  },
  {
    says: 'BLOCK with a bound, after it',
    core: { ...block, requestBodyInspectionLimit: '100000' },
    padding: 180_000,
    expected: misses,
  },
  {
    says: 'BLOCK, after what is held, detection only',
    core: block,
    padding: held + 80_000,
    engineState: 'ENGINE_STATE_DETECTION_ONLY',
    expected: records,
  },
  {
    says: 'BLOCK, after what is held, a site that detects',
    core: block,
    padding: held + 80_000,
    mode: 'detection',
    expected: records,
  },
  {
    says: 'a limit that is off, OBSERVE',
    core: { ...observe, requestBodyLimitEnabled: false },
    padding: held,
    expected: stops,
  },
  {
    says: 'the limit BLOCK, whatever follows it is set to',
    core: { ...block, requestBodyLimitAction: 'REQUEST_BODY_LIMIT_ACTION_BLOCK' },
    padding: 3_000,
    expected: { status: 413 },
  },
  { says: 'nothing set', core: {}, padding: 3_000, expected: { status: 413 } },
];
