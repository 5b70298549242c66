/**
 * How the inspected part of a request body becomes values: picks the processor, runs it and
 * fills REQUEST_BODY where ModSecurity does. Never parses by itself.
 */

import { AppError } from '../../../base/errors.ts';
import { showsItsCharacters } from '../../base/multipart-content-type.ts';
import type { BodySnapshot } from '../../contract/message.ts';
import { failBody } from '../features/bodies/arguments.ts';
import { readConnectQuery } from '../features/bodies/connect-query.ts';
import { decodeRequestBody } from '../features/bodies/coded-body.ts';
import { readEmbeddedJson } from '../features/bodies/embedded-json.ts';
import { findBodyProcessor } from '../features/bodies/list.ts';
import { loadBodyRest } from '../features/bodies/body-rest.ts';
import { readInnerTexts } from '../features/bodies/inner-texts.ts';
import { readMixedBody } from '../features/bodies/mixed.ts';
import { readPackets } from '../features/bodies/packets.ts';
import {
  declaredType,
  quietly,
  readOtherwise,
  readUndeclared,
} from '../features/bodies/unparsed.ts';
import { readStomp } from '../features/bodies/stomp.ts';
import { wideEncodingOf } from '../features/bodies/text-encoding.ts';
import { reachLimit } from '../transaction/inspection-limits.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { SOURCE } from '../transaction/values.ts';
import { addRenamed } from './renamed-values.ts';

/**
 * Fills the values of phase 2; call once, `body` null when there is none. The processor is what
 * `ctl:requestBodyProcessor` says, else what the Content-Type asks for. What cannot be read sets
 * REQBODY_ERROR and keeps what was read before. REQUEST_BODY is filled without a processor, for
 * URLENCODED, as in ModSecurity 2, and for GRPC. Cost: one copy of the body and one pass.
 */
export function loadRequestBody(tx: Transaction, body: BodySnapshot | null): void {
  const first = tx.values.count;
  loadValues(tx, body);
  if (tx.settings.renamedValues && !ownNames.has(tx.bodyProcessor)) addRenamed(tx, first);
}

/** Names in these are members and elements, which no program renames. */
const ownNames = new Set(['JSON', 'XML', 'GRPC']);

function loadValues(tx: Transaction, body: BodySnapshot | null): void {
  const processorName = tx.control.requestBodyProcessor || tx.bodyProcessor;
  tx.bodyProcessor = processorName;
  if (tx.request.grpcFields === true) readConnectQuery(tx);
  if (body === null || !tx.control.requestBodyAccess) return;
  if (body.rest !== undefined) return loadBodyRest(tx, processorName, body.bytes, body.rest);
  const length = body.bytes.length;
  if (body.files === undefined) noteExcess(tx, processorName, body);
  else {
    tx.filesLeftOut = body.files.gaps;
    tx.bodyRest = body.files.again;
    const { requestBodyLimitAction, requestBodyExcessAction } = tx.settings;
    const observed = requestBodyLimitAction === 'processPartial';
    if (observed && requestBodyExcessAction !== 'block') tx.inboundDataError = 1;
  }
  if (length === 0) return;
  tx.requestBodyPresent = true;
  try {
    tx.bodyStart = tx.values.append(body.bytes);
    tx.requestBodyBytes = length;
    if (tx.settings.inspectsUnparsed) decodeRequestBody(tx, body.truncated);
    readBody(tx, processorName, body.truncated);
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'slab_full') throw thrown;
    failBody(tx, 'The request body is too large to be read');
    reachLimit(tx, 'transaction-bytes');
  }
}

function readBody(tx: Transaction, processorName: string, truncated: boolean): void {
  const start = tx.bodyStart;
  const end = start + tx.requestBodyBytes;
  const processor = processorName === '' ? undefined : findBodyProcessor(processorName);
  const first = tx.values.rowsOf(SOURCE.argPost).length;
  const inParts =
    processorName === '' &&
    tx.settings.inspectsUnparsed &&
    (readMixedBody(tx, start, end, truncated) || readStomp(tx, start, end));
  const asText = processor === undefined && !inParts;
  if (asText || processorName === 'URLENCODED' || processorName === 'GRPC') {
    tx.values.add(SOURCE.requestBody, start, start, start, end);
  }
  const limit = tx.settings.requestBodyNoFilesLimitBytes;
  if (processorName !== 'MULTIPART' && limit > 0 && tx.requestBodyBytes > limit) {
    failBody(tx, 'Request body excluding files is bigger than the maximum expected.');
  }
  if (tx.settings.inspectsUnparsed && !inParts) noteHiddenCharset(tx, processorName, start, end);
  if (processor !== undefined) processor.process(tx, start, end, truncated);
  else if (processorName !== '') failBody(tx, 'Unknown request body processor');
  if (inParts) readInnerTexts(tx, first, false);
  else if (tx.settings.inspectsUnparsed) readOnceMore(tx, processorName, truncated, first);
}

/**
 * Text in a charset of which the bytes show no ASCII, such as UTF-7 or EBCDIC: a server that
 * decodes it reads what no rule sees. Multipart bodies have charsets by part.
 */
function noteHiddenCharset(tx: Transaction, name: string, start: number, end: number): void {
  if (name === 'MULTIPART' || name === 'GRPC') return;
  const isWide = wideEncodingOf(tx.values.slab, start, end) !== null;
  if (!showsItsCharacters(declaredType(tx), isWide)) failBody(tx, hiddenCharset);
}

/** A rule of every policy refuses it. */
const hiddenCharset = 'Charset: an encoding that is not read';

/** True where what follows is inspected in windows: who asks for them tells where they end. */
function continues({ settings }: Transaction, { bytes }: BodySnapshot): boolean {
  if (settings.requestBodyExcessAction === 'off') return false;
  const limit = settings.requestBodyInspectionLimitBytes;
  return (
    settings.requestBodyLimitAction === 'processPartial' && !(limit > 0 && limit <= bytes.length)
  );
}

/** Whatever a backend may read that the processor did not; `first`: the first row of the body. */
function readOnceMore(tx: Transaction, name: string, truncated: boolean, first: number): void {
  const start = tx.bodyStart;
  const end = start + tx.requestBodyBytes;
  let unknown = false;
  if (name === '' || findBodyProcessor(name) === undefined) {
    unknown = readUndeclared(tx, start, end, truncated);
  } else if (name === 'URLENCODED' || (tx.bodyError !== 0 && name !== 'MULTIPART')) {
    readOtherwise(tx, name, start, end, truncated);
  }
  if (!structured.has(name)) {
    quietly(tx, () => (unknown = !readPackets(tx, start, end, truncated) && unknown));
    if (unknown) readEmbeddedJson(tx, start, end);
  }
  readInnerTexts(tx, first, name === 'GRPC');
}

/** Bodies of these are no packets, or are read as JSON anyway. */
const structured = new Set(['JSON', 'MULTIPART', 'GRPC']);

/** Past the budget a body is inspected on; past the second bound nothing is. */
function noteExcess(tx: Transaction, processorName: string, body: BodySnapshot): void {
  const { requestBodyLimitBytes, requestBodyLimitAction } = tx.settings;
  const multipart = processorName === 'MULTIPART' && tx.settings.multipartBodyLimitBytes > 0;
  const partial = requestBodyLimitAction === 'processPartial' && !multipart;
  if (body.truncated && !continues(tx, body)) reachLimit(tx, 'body-bytes');
  if (body.truncated || (partial && body.bytes.length > requestBodyLimitBytes)) {
    tx.inboundDataError = 1;
  }
}
