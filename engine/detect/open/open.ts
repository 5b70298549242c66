/**
 * Opens values: a value is a tree of leaves, each in one more encoding, with a path that people can
 * read. Bounded in depth, leaves and bytes; what is beyond stays as it is. Never judges a leaf.
 */

import { decodeCharacterReferences } from '../../base/character-references.ts';
import type { ByteString } from '../../../base/byte-string.ts';
import { detectLimits } from '../../base/detect-limits.ts';
import { SEEN } from '../bytes-seen.ts';
import type { Leaf } from '../detector.ts';
import { OPENS, opensOf, scanned } from '../leaf-scan.ts';
import { isBinary, openBinary } from './binary.ts';
import { openBase64, openCredentials, openToken, openShortBase64 } from './base64.ts';
import { decodeEscapes, decodeLongUtf8, decodePercent } from './escapes.ts';
import { openSevenBits } from './seven-bits.ts';
import { openCookies, openForm, openParts, openUrl, type FormReading } from './forms.ts';
import { looksLikeJson, openJson } from './json.ts';
import { base64BytesMin, Leaves, type OpenBudget, type OpenedLeaf } from './leaves.ts';
import { openStrings } from './query-strings.ts';
import { openXml, withoutQuotedMarkup } from './markup.ts';
import { plainPath } from './path-forms.table.ts';

/**
 * The leaves of a value that was scanned last, the value itself first. `isData`: of binary data
 * only its texts are leaves. Errors: none; what does not decode is no leaf. Cost: linear in the
 * bytes of all leaves.
 */
export function openValue(
  text: ByteString,
  path: string,
  budget: OpenBudget,
  isData = false,
): readonly Leaf[] {
  const leaves = new Leaves(budget);
  leaves.addValue(text, path);
  for (let at = 0; at < leaves.list.length; at++) {
    const leaf = leaves.list[at]!;
    if (leaf.depth >= detectLimits.depthMax) {
      leaves.leaveUnopened();
      break;
    }
    leaves.openBelow(leaf);
    if (isData && leaf.kind === 'text' && isBinary(leaf)) leaf.kind = 'binary';
    openLeaf(leaf, leaves);
    // What its leaves do not hold is looked for in the text itself.
    const isSearched = leaf.kind !== 'document' && leaf.kind !== 'url' && leaf.kind !== 'page';
    if (!leaves.isComplete && !isSearched) leaf.kind = 'text';
  }
  return leaves.list;
}

/** Bytes without which only base64, tokens and credentials can be opened. */
const openingBits =
  SEEN.brace |
  SEEN.bracket |
  SEEN.less |
  SEEN.lineEnd |
  SEEN.equals |
  SEEN.percent |
  SEEN.backslash |
  SEEN.ampersand |
  SEEN.high |
  SEEN.plus |
  SEEN.control;

/** Whether the text that was scanned last may have leaves beside itself. */
export function mayOpen(): boolean {
  const { seen, runBytes } = scanned;
  if ((seen & openingBits) !== 0 || runBytes >= base64BytesMin) return true;
  if ((seen & SEEN.slash) !== 0 && (seen & urlBits) !== 0) return true;
  return scanned.any && opensOf(scanned.found) !== 0;
}

const upperA = 0x41;
const upperZ = 0x5a;

/**
 * Whether a value of letters, digits, `_`, `-` and `.` may hold an encoded one: it is long and has
 * letters of both cases. Cost: a look at some bytes.
 */
export function mayOpenPlain(bytes: Uint8Array, start = 0, end = bytes.length): boolean {
  if (end - start < base64BytesMin) return false;
  let upper = false;
  let lower = false;
  for (let at = start; at < end && !(upper && lower); at++) {
    const byte = bytes[at]!;
    if (byte >= upperA && byte <= upperZ) upper = true;
    else if (byte > upperZ) lower = true;
  }
  return upper && lower;
}

function openLeaf(leaf: OpenedLeaf, leaves: Leaves): void {
  if (leaf.kind === 'binary') {
    openBinary(leaf.text, leaves);
    return;
  }
  const { seen, text } = leaf;
  if (leaf.kind === 'page') return;
  if (!openDocument(leaf, leaves)) openFields(leaf, leaves);
  if (leaf.kind === 'document') return;
  if (leaf.kind !== 'url') openBesides(leaf, leaves);
  else if ((seen & SEEN.percent) !== 0) leaves.addVariant('percent', decodePercent(text));
}

/** Documents whose leaves hold all that they say. */
function openDocument(leaf: OpenedLeaf, leaves: Leaves): boolean {
  const { seen, text } = leaf;
  if ((seen & (SEEN.brace | SEEN.bracket)) !== 0 && looksLikeJson(text)) {
    const { items, end, brokenString } = openJson(text, leaves);
    if (items > 0 || brokenString >= 0) {
      // Brackets of program text are no document: `["a"]["b"]("c")`.
      if (end >= text.length || !/^\s{0,8}[[(.;|&+-]/.test(text.slice(end, end + 9))) {
        leaf.kind = 'document';
      }
      if (brokenString >= 0) leaves.add('json', decodeEscapes(text.slice(brokenString)));
      else if (end < text.length) leaves.add('json', text.slice(end));
      return true;
    }
  }
  if ((seen & SEEN.less) !== 0 && openXml(text, leaves)) {
    leaf.kind = 'document';
    return true;
  }
  if ((seen & SEEN.lineEnd) !== 0 && openParts(text, leaves)) {
    leaf.kind = 'document';
    return true;
  }
  return false;
}

/** URLs have a scheme or a query. */
const urlBits = SEEN.colon | SEEN.other;

function openFields(leaf: OpenedLeaf, leaves: Leaves): void {
  const { seen, text } = leaf;
  let reading: FormReading = 'none';
  const isUrl = (seen & SEEN.slash) !== 0 && (seen & urlBits) !== 0;
  if (isUrl) reading = openUrl(text, leaves);
  if (reading === 'none' && (seen & SEEN.equals) !== 0) {
    if (openShortBase64(text, leaves)) return;
    if ((seen & SEEN.semicolon) !== 0) reading = openCookies(text, leaves);
    if (reading === 'none') reading = openForm(text, leaves);
  }
  if (reading === 'clean') leaf.kind = 'url';
}

/** A backslash before a line end joins lines, in shells and in scripts. */
const joinBits = SEEN.backslash | SEEN.lineEnd;
/** A comment inside a word: filters that take comments out join it. */
const commentBits = SEEN.slash | SEEN.star;
const splitWord = /[a-z]\/\*[^*]{0,64}\*\/[a-z]/i;
/** A tag inside a word: filters that take tags out join it. */
const tagInWord = /[a-z]<\/?[a-z]{1,12}>[a-z(]/i;
/** Words with `+` for blanks, as forms write them: no base64, which has no two words. */
const plusWords = /(?:^|[\W+])[a-z]{2,12}\+[\w*'"(/~.-]{1,64}(?:[+(=:;|&$\s]|$)/i;

/** Elements with character references in them. */
const entityBits = SEEN.less | SEEN.ampersand | SEEN.semicolon;

/** Queries of GraphQL have arguments in brackets, with strings. */
const queryBits = SEEN.brace | SEEN.paren | SEEN.doubleQuote;

/** A command after a separator, written so: sentences around it have blanks of their own. */
const plusCommand = /[;|&]\+(?:\$\w{0,8}\+)?[a-z]{2,12}\+/i;

function isPlusForm({ seen, text }: Leaf): boolean {
  if ((seen & SEEN.plus) === 0) return false;
  return ((seen & SEEN.blank) === 0 && plusWords.test(text)) || plusCommand.test(text);
}

/** Encodings that a reader may or may not decode: what they give is a leaf beside the text. */
function openBesides(leaf: OpenedLeaf, leaves: Leaves): void {
  const { seen, text } = leaf;
  const opens = opensOf(leaf.found);
  if ((seen & SEEN.percent) !== 0) leaves.addVariant('percent', decodePercent(text));
  if ((opens & OPENS.escapes) !== 0 && /\\(?:x[0-9a-f]{2}|u[0-9a-f{]|[nrt][\W_])/i.test(text)) {
    leaves.addVariant('escapes', decodeEscapes(text));
  }
  const shown = (seen & entityBits) === entityBits ? withoutQuotedMarkup(text) : text;
  if ((seen & SEEN.ampersand) !== 0 && text.includes(';')) {
    leaves.addVariant('entities', decodeCharacterReferences(shown));
  } else if ((seen & (SEEN.ampersand | SEEN.hash)) === (SEEN.ampersand | SEEN.hash)) {
    leaves.addVariant('entities', decodeCharacterReferences(shown));
  }
  if (
    (seen & SEEN.high) !== 0 &&
    /[\xc0\xc1]|\xe0[\x80-\x9f]|\xef[\xbc\xbd]|\xe5\x98[\x8a\x8d\xbc\xbe]/.test(text)
  ) {
    leaves.addVariant('utf-8', decodeLongUtf8(text));
  }
  if ((seen & SEEN.high) !== 0 && text.includes('\xbc')) openSevenBits(text, leaves);
  if (
    (seen & (SEEN.high | SEEN.percent)) !== 0 ||
    ((opens & OPENS.hexPath) !== 0 && /0x[25]/.test(text))
  ) {
    leaves.addVariant('path forms', plainPath(text));
  }
  if ((seen & SEEN.control) !== 0 && /[\0\x01]/.test(text)) {
    leaves.addVariant('without NUL', text.replace(/[\0\x01]/g, ''));
  }
  if ((seen & joinBits) === joinBits)
    leaves.addVariant('joined lines', text.replaceAll(/\\\r?\n/g, ''));
  if ((seen & commentBits) === commentBits && splitWord.test(text)) {
    leaves.addVariant('without comments', text.replaceAll(/\/\*[^*]{0,64}\*\//g, ''));
  }
  if ((seen & SEEN.less) !== 0 && tagInWord.test(text)) {
    leaves.addVariant('without tags', text.replaceAll(/<\/?[a-z]{1,12}>/gi, ''));
  }
  if (isPlusForm(leaf)) leaves.addVariant('plus signs', text.replaceAll('+', ' '));
  if ((seen & queryBits) === queryBits) openStrings(text, leaves);
  if ((opens & OPENS.credentials) !== 0 && openCredentials(text, leaves)) return;
  if ((opens & OPENS.token) !== 0 && openToken(text, leaves)) return;
  if (leaf.runBytes >= base64BytesMin) openBase64(text, leaves);
}
