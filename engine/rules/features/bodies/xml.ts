/**
 * The XML body processor: decoding the bytes, and the rows that the document becomes. Reading
 * it is xml-reader.ts; the tree for selectors is xml-tree.ts, searching it xml-path.ts.
 */

import { isUtf8 } from 'node:buffer';

import { encodeUtf8 } from '../../../../base/byte-string.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import type { BodyProcessorDefinition } from '../../transaction/types.ts';
import { SOURCE } from '../../transaction/values.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import { failBody, hasArgumentRoom } from './arguments.ts';
import { addRawText } from './raw-text.ts';
import { XmlReader } from './xml-reader.ts';
import { readXml, textOf } from './xml-tree.ts';
import type { XmlElement } from '../../transaction/xml-element.ts';

/** One a thread: inspection is synchronous. */
const reader = new XmlReader();

/**
 * `ctl:requestBodyProcessor=XML`. Rows: the text of the root element (`XML:/*`) and every attribute
 * (`XML://@*`), both in UTF-8.
 */
export const xmlBody: BodyProcessorDefinition = {
  name: 'XML',
  summary: 'The text and the attributes of an XML document; no document type, no entities.',
  example: 'ctl:requestBodyProcessor=XML',
  source: 'ModSecurity v3 reference, XML; XML 1.0 and Namespaces',
  process(tx: Transaction, start: number, end: number, truncated: boolean): void {
    const bytes = tx.values.slab.subarray(start, end);
    const encoding = encodingOf(bytes);
    if (encoding === 'unknown') failBody(tx, 'XML: an unknown encoding');
    if (encoding === 'utf-8' && !truncated && !isUtf8(bytes)) failBody(tx, 'XML: not UTF-8');
    const { parseXmlIntoArgs } = tx.control;
    tx.xmlPresent = parseXmlIntoArgs !== 'onlyArgs';
    tx.xmlTruncated = truncated;
    const inPlace = encoding === 'utf-8' || encoding === 'unknown';
    if (inPlace && parseXmlIntoArgs === 'off') {
      reader.read(tx, start, end, truncated);
      return;
    }
    const { root, reason, limit } = readXml(utf8Of(bytes, encoding), truncated);
    if (reason !== null) failBody(tx, reason);
    if (limit !== null) {
      reachLimit(tx, limit);
      if (tx.settings.inspectsUnparsed) addRawText(tx, SOURCE.argPost, start, end);
    }
    if (root === null) return;
    if (parseXmlIntoArgs !== 'off') addArguments(tx, root);
    if (parseXmlIntoArgs === 'onlyArgs') return;
    tx.xmlRoot = root;
    tx.values.addText(SOURCE.xmlText, '/*', encodeUtf8(textOf(root)));
    addAttributes(tx, root);
  },
};

/** The tree of the XML body, made at the first call; null when there is none. */
export function xmlRootOf(tx: Transaction): XmlElement | null {
  if (!tx.xmlPresent || tx.xmlRoot !== null) return tx.xmlRoot;
  const bytes = tx.values.slab.subarray(tx.bodyStart, tx.bodyStart + tx.requestBodyBytes);
  tx.xmlRoot = readXml(utf8Of(bytes, encodingOf(bytes)), tx.xmlTruncated).root;
  tx.xmlPresent = tx.xmlRoot !== null;
  return tx.xmlRoot;
}

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin1' | 'unknown';

/** XML 1.0 appendix F: the byte order mark, then what the declaration says, else UTF-8. */
function encodingOf(bytes: Buffer): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const declaration = /^(?:\xef\xbb\xbf)?<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.-]+)["']/.exec(
    bytes.latin1Slice(0, Math.min(bytes.length, 200)),
  );
  const name = declaration?.[1]?.toLowerCase() ?? 'utf-8';
  if (/^(?:iso-?8859-1|latin1|windows-1252)$/.test(name)) return 'latin1';
  return /^(?:utf-?8|us-ascii)$/.test(name) ? 'utf-8' : 'unknown';
}

/** The document in UTF-8; the reader passes over a mark before it. */
function utf8Of(bytes: Buffer, encoding: Encoding): Buffer {
  if (encoding === 'utf-16le') return Buffer.from(new TextDecoder('utf-16le').decode(bytes));
  if (encoding === 'utf-16be') {
    const swapped = Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16();
    return Buffer.from(new TextDecoder('utf-16le').decode(swapped));
  }
  return encoding === 'latin1' ? Buffer.from(bytes.latin1Slice()) : bytes;
}

function addAttributes(tx: Transaction, root: XmlElement): void {
  forEachElement(root, (element) => {
    for (const { value } of element.attributes) {
      tx.values.addText(SOURCE.xmlAttribute, '//@*', encodeUtf8(value));
    }
  });
}

/** Elements without child elements become arguments named by their path: `xml.order.id`. */
function addArguments(tx: Transaction, root: XmlElement): void {
  forEachElement(root, (element) => {
    if (element.children.some((child) => typeof child !== 'string')) return;
    if (!hasArgumentRoom(tx)) return;
    const names: string[] = [];
    for (let at: XmlElement | null = element; at !== null; at = at.parent) names.push(at.name);
    const key = encodeUtf8(['xml', ...names.reverse()].join('.'));
    tx.values.addText(SOURCE.argPost, key, encodeUtf8(textOf(element)));
  });
}

/** In document order. */
function forEachElement(root: XmlElement, visit: (element: XmlElement) => void): void {
  const pending: XmlElement[] = [root];
  while (pending.length > 0) {
    const element = pending.pop()!;
    visit(element);
    for (let i = element.children.length - 1; i >= 0; i--) {
      const child = element.children[i]!;
      if (typeof child !== 'string') pending.push(child);
    }
  }
}
