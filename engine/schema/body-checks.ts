/** Checks the body of one operation: its media type, then its content as that type says. */

import type { ApiCheck } from '../base/check-code.ts';
import type { ApiBody, ApiMedia } from '../contract/api-checks.ts';
import type { ArrayNames } from '../contract/array-names.ts';
import type { RequestView } from '../guard/request-view.ts';
import { notEvaluated, unchecked, violation, type Finding } from './finding.ts';
import { formNames, readForm, readMultipart, textOf } from './form-fields.ts';
import { findMedia, readMediaType, type MediaType } from './media-type.ts';
import { readFormParts } from './multipart-parts.ts';
import type { OriginNames } from './origin-names.ts';
import type { Reading } from './parameter-reading.ts';
import { checkBothSides } from '../base/number-reading.ts';
import { readPlainJson } from './plain-json.ts';
import { runCheck } from './run-check.ts';

/** A body that is still to be looked at. */
export interface PendingBody {
  readonly media: ApiMedia;
  readonly type: MediaType;
}

/** What a body may be. */
export class BodyChecks {
  private readonly body: ApiBody;
  private readonly checkOf: (index: number | undefined) => ApiCheck | null;
  /** The last Content-Type, and what it was read as: clients of an operation mostly send one. */
  private readonly last: { text: string; type: MediaType | null } = { text: '', type: null };

  /** Of forms and multipart bodies. */
  private readonly names: ReadonlyMap<ApiMedia, OriginNames>;

  constructor(
    body: ApiBody,
    checkOf: (index: number | undefined) => ApiCheck | null,
    arrayNames: ArrayNames = 'none',
  ) {
    this.body = body;
    this.checkOf = checkOf;
    this.names = new Map(body.media.map((media) => [media, formNames(arrayNames, media)]));
  }

  /** What the head says of the body: a finding, what is to be read, or null where all is well. */
  checkHead(view: RequestView, hasBody: boolean): Finding | PendingBody | null {
    const { pointer, required, media } = this.body;
    if (!hasBody) return required ? violation('body', 'required', pointer) : null;
    const fields = view.fields('content-type');
    const type = fields.length === 1 ? this.readType(fields[0]!) : null;
    if (type === null) {
      // RFC 9110 section 8.3: without a type it is anything.
      const any = fields.length === 0 ? findMedia(media, 'application/octet-stream') : null;
      if (any === null) return violation('body', 'contentType', pointer);
      return { media: any, type: { type: '', charset: '', boundary: '' } };
    }
    const found = findMedia(media, type.type);
    if (found === null) return violation('body', 'contentType', pointer);
    const coding = view.header('content-encoding');
    if (coding !== null && coding.toLowerCase() !== 'identity') {
      return notEvaluated('body', 'contentEncoding', found.pointer);
    }
    return { media: found, type };
  }

  private readType(text: string): MediaType | null {
    const { last } = this;
    if (last.text === text) return last.type;
    const type = readMediaType(text);
    if (text.length > keptTypeCharsMax) return type;
    last.text = text;
    return (last.type = type);
  }

  /** What the content is. `body` is whole. */
  checkContent({ media, type }: PendingBody, body: Buffer): Finding | null {
    const { kind, pointer, check: index } = media;
    const sized = sizeFault(media, body);
    if (sized !== null) return violation('body', sized, pointer);
    if (kind === 'xml') return unchecked('body', pointer);
    // Their size is all that a document says of them.
    if (index === undefined && (kind === 'binary' || kind === 'text')) return null;
    if (type.charset !== '' && !utf8Names.has(type.charset)) {
      return notEvaluated('body', 'charset', pointer);
    }
    const check = this.checkOf(index);
    const names = this.names.get(media);
    return checkBothSides(() =>
      runCheck(check, readContent(media, type, body, names), 'body', pointer),
    );
  }
}

/** Longer ones are read each time; the boundary of a form differs each time anyway. */
const keptTypeCharsMax = 128;

const utf8Names = new Set(['utf-8', 'utf8', 'us-ascii']);

function readContent(
  media: ApiMedia,
  type: MediaType,
  body: Buffer,
  names: OriginNames | undefined,
): Reading {
  if (media.kind === 'json') {
    const read = readPlainJson(body);
    return 'fault' in read ? read : { values: [read.value] };
  }
  if (media.kind === 'form') return readForm(media, body, names);
  if (media.kind === 'multipart') {
    const read = readFormParts(body, type.boundary);
    return 'fault' in read ? read : readMultipart(media, read.parts, names);
  }
  const text = textOf(body);
  return text === null ? { fault: 'encoding' } : { values: [text] };
}

/** Bounds of texts count characters, those of binary content bytes. */
function sizeFault({ kind, minSize, maxSize }: ApiMedia, body: Buffer): string | null {
  if (minSize === undefined && maxSize === undefined) return null;
  let size = body.length;
  if (kind === 'text') {
    const text = textOf(body);
    if (text === null) return 'encoding';
    size = 0;
    for (const _ of text) size++;
  }
  if (minSize !== undefined && size < minSize) return 'minLength';
  return maxSize !== undefined && size > maxSize ? 'maxLength' : null;
}
