/** The variables of request bodies: raw text, how parsing went, multipart and files. */

import { type ByteString, encodeUtf8 } from '../../../../base/byte-string.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import type { MultipartFlags, Transaction } from '../../transaction/transaction.ts';
import type { VariableDefinition } from '../../transaction/types.ts';
import { type Entry, SOURCE } from '../../transaction/values.ts';
import { collection, rowCollection, rowScalar, scalar } from './define.ts';

/** Raw body and parser state first, then multipart, then files. */
export const bodyVariables: readonly VariableDefinition[] = [
  rowScalar(
    {
      name: 'REQUEST_BODY',
      summary: 'The inspected body; unset for XML, JSON and MULTIPART.',
      example: 'SecRule REQUEST_BODY "@rx ^username=\\w{25,}"',
    },
    SOURCE.requestBody,
  ),
  scalar(
    {
      name: 'REQUEST_BODY_LENGTH',
      summary: 'Bytes of the inspected body.',
      example: 'SecRule REQUEST_BODY_LENGTH "@gt 1000"',
    },
    (tx) => tx.requestBodyBytes,
  ),
  scalar(
    {
      name: 'FULL_REQUEST',
      summary: 'Head and inspected body.',
      example: 'SecRule FULL_REQUEST "@contains x"',
    },
    fullRequest,
  ),
  scalar(
    {
      name: 'FULL_REQUEST_LENGTH',
      summary: 'Bytes of FULL_REQUEST.',
      example: 'SecRule FULL_REQUEST_LENGTH "@gt 205"',
    },
    (tx) => fullRequest(tx).length,
  ),
  scalar(
    {
      name: 'REQBODY_PROCESSOR',
      summary: 'URLENCODED, MULTIPART, JSON, XML, GRPC or empty.',
      example: 'SecRule REQBODY_PROCESSOR "@streq XML"',
    },
    (tx) => tx.control.requestBodyProcessor || tx.bodyProcessor,
  ),
  scalar(
    {
      name: 'REQBODY_ERROR',
      summary: '1 when the body could not be read as declared.',
      example: 'SecRule REQBODY_ERROR "!@eq 0"',
    },
    (tx) => tx.bodyError,
  ),
  scalar(
    {
      name: 'REQBODY_ERROR_MSG',
      summary: 'Why it could not be read.',
      example: "logdata:'%{REQBODY_ERROR_MSG}'",
    },
    (tx) => tx.bodyErrorMessage,
  ),
  scalar(
    {
      name: 'REQBODY_PROCESSOR_ERROR',
      summary: 'The same as REQBODY_ERROR.',
      example: 'SecRule REQBODY_PROCESSOR_ERROR "@eq 1"',
    },
    (tx) => tx.bodyError,
  ),
  scalar(
    {
      name: 'REQBODY_PROCESSOR_ERROR_MSG',
      summary: 'The same as REQBODY_ERROR_MSG.',
      example: 'SecRule REQBODY_PROCESSOR_ERROR_MSG "@contains XML"',
    },
    (tx) => tx.bodyErrorMessage,
  ),
  scalar(
    {
      name: 'URLENCODED_ERROR',
      summary: '1 when a %-sequence of ARGS was invalid.',
      example: 'SecRule URLENCODED_ERROR "@eq 1"',
    },
    (tx) => tx.urlEncodedError,
  ),
  scalar(
    {
      name: 'INBOUND_DATA_ERROR',
      summary: '1 when the body went past the inspection limit.',
      example: 'SecRule INBOUND_DATA_ERROR "@eq 1"',
    },
    (tx) => tx.inboundDataError,
  ),
  ...multipartFlag('MULTIPART_STRICT_ERROR', 'strictError', 'any strictness flag of the parser'),
  ...multipartFlag(
    'MULTIPART_UNMATCHED_BOUNDARY',
    'unmatchedBoundary',
    'a line that looks like a boundary; 2 when a boundary came after it',
  ),
  ...multipartFlag('MULTIPART_BOUNDARY_QUOTED', 'boundaryQuoted', 'a quoted boundary'),
  ...multipartFlag(
    'MULTIPART_BOUNDARY_WHITESPACE',
    'boundaryWhitespace',
    'white space around the boundary',
  ),
  ...multipartFlag('MULTIPART_DATA_BEFORE', 'dataBefore', 'data before the first boundary'),
  ...multipartFlag('MULTIPART_DATA_AFTER', 'dataAfter', 'data after the last boundary'),
  ...multipartFlag('MULTIPART_HEADER_FOLDING', 'headerFolding', 'folded part headers'),
  ...multipartFlag(
    'MULTIPART_INVALID_HEADER_FOLDING',
    'invalidHeaderFolding',
    'folding by other bytes than blank and tab',
  ),
  ...multipartFlag('MULTIPART_LF_LINE', 'lfLine', 'a line that ends in LF alone'),
  ...multipartFlag('MULTIPART_CRLF_LF_LINES', 'crlfLfLines', 'mixed line ends'),
  ...multipartFlag(
    'MULTIPART_SEMICOLON_MISSING',
    'missingSemicolon',
    'no semicolon before the boundary',
    ['MULTIPART_MISSING_SEMICOLON'],
  ),
  ...multipartFlag(
    'MULTIPART_INVALID_QUOTING',
    'invalidQuoting',
    'single quotes in Content-Disposition',
  ),
  ...multipartFlag('MULTIPART_INVALID_PART', 'invalidPart', 'a part without a name'),
  ...multipartFlag(
    'MULTIPART_FILE_LIMIT_EXCEEDED',
    'fileLimitExceeded',
    'more files than SecUploadFileLimit',
  ),
  ...multipartFlag(
    'MULTIPART_AMBIGUOUS_BOUNDARY',
    'ambiguousBoundary',
    'a boundary that some backends end earlier',
  ),
  ...multipartFlag(
    'MULTIPART_AMBIGUOUS_PART',
    'ambiguousPart',
    'a part that some backends read as a field and others as a file, or under other names',
  ),
  ...multipartFlag(
    'MULTIPART_TWO_READINGS',
    'twoReadings',
    'a body that backends read in different ways',
  ),
  scalar(
    {
      name: 'MULTIPART_TWO_READINGS_REASON',
      summary: 'What backends read in different ways; empty where nothing is.',
      example: "logdata:'%{MULTIPART_TWO_READINGS_REASON}'",
    },
    (tx) => tx.multipart?.readingsReason ?? '',
  ),
  collection(
    {
      name: 'MULTIPART_NAME',
      summary: 'Names of all parts.',
      example: 'SecRule MULTIPART_NAME "@contains /"',
    },
    (tx) => namesOf(tx.multipart?.names),
  ),
  collection(
    {
      name: 'MULTIPART_FILENAME',
      summary: 'File names of all parts.',
      example: 'SecRule MULTIPART_FILENAME "@contains %00"',
    },
    (tx) => namesOf(tx.multipart?.fileNames),
  ),
  rowCollection(
    {
      name: 'MULTIPART_PART_HEADERS',
      summary: 'Header lines of the parts, keyed by part name, without line end.',
      example: 'SecRule MULTIPART_PART_HEADERS:upload "@rx content-type:.*jpeg" "t:lowercase"',
    },
    [SOURCE.multipartPartHeader],
  ),
  rowCollection(
    {
      name: 'FILES',
      summary: 'File names as sent, keyed by field.',
      example: 'SecRule FILES "@rx \\.php$"',
    },
    [SOURCE.file],
  ),
  rowCollection(
    {
      name: 'FILES_NAMES',
      summary: 'Fields that files were sent in.',
      example: 'SecRule FILES_NAMES "^upfile$"',
    },
    [SOURCE.file],
    'key',
  ),
  collection(
    {
      name: 'FILES_SIZES',
      summary: 'Bytes of each file, keyed by field.',
      example: 'SecRule FILES_SIZES "@gt 100"',
    },
    (tx) => tx.files.map((file) => ({ key: file.field, value: String(file.sizeBytes) })),
  ),
  scalar(
    {
      name: 'FILES_COMBINED_SIZE',
      summary: 'Bytes of all files.',
      example: 'SecRule FILES_COMBINED_SIZE "@gt 100000"',
    },
    (tx) => tx.files.reduce((sum, file) => sum + file.sizeBytes, 0),
  ),
  collection(
    {
      name: 'FILES_TMPNAMES',
      summary: 'A name for each file up to SecUploadFileLimit; nothing is written to disk.',
      example: 'SecRule &FILES_TMPNAMES "@gt 1"',
    },
    temporaryNames,
  ),
  collection(
    {
      name: 'FILES_TMP_CONTENT',
      summary: 'Inspected content of each file; of one in a form over 16 MB the beginning.',
      example: 'SecRule FILES_TMP_CONTENT "@contains <?php"',
    },
    contentsOfFiles,
  ),
];

/** One MULTIPART_* flag; 0 for other requests. */
function multipartFlag(
  name: string,
  flag: Exclude<keyof MultipartFlags, 'names' | 'fileNames' | 'readingsReason'>,
  what: string,
  aliases: readonly string[] = [],
): VariableDefinition[] {
  const texts = { name, aliases, summary: `1: ${what}.`, example: `SecRule ${name} "@eq 1"` };
  return [scalar(texts, (tx) => tx.multipart?.[flag] ?? 0)];
}

function namesOf(names: readonly ByteString[] | undefined): readonly Entry[] {
  return names === undefined ? [] : names.map((name) => ({ key: name, value: name }));
}

/** A rule that reads files did not see all of one that is cut. */
function contentsOfFiles(tx: Transaction): readonly Entry[] {
  if (tx.files.some(({ cut }) => cut)) reachLimit(tx, 'file-bytes');
  const { slab } = tx.values;
  return tx.files.map(({ field, start, end }) => ({
    key: field,
    value: slab.latin1Slice(start, end),
  }));
}

function temporaryNames(tx: Transaction): readonly Entry[] {
  const id = encodeUtf8(tx.request.requestId);
  return tx.files.slice(0, tx.settings.uploadFilesMax).map((_, i) => {
    const name = `${id}-file-${i}`;
    return { key: name, value: name };
  });
}

function fullRequest(tx: Transaction): ByteString {
  const { slab } = tx.values;
  const head = slab.latin1Slice(tx.headStart, tx.headEnd);
  const body = slab.latin1Slice(tx.bodyStart, tx.bodyStart + tx.requestBodyBytes);
  return `${head}\r\n\r\n${body}`;
}
