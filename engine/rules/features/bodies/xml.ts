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
import {
  hiddenEncodingReason,
  xmlEncodingOf,
  xmlInUtf8,
  type XmlEncoding,
} from './xml-encoding.ts';
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
    const encoding = xmlEncodingOf(bytes);
    if (encoding === 'hidden') failBody(tx, hiddenEncodingReason);
    if (encoding === 'unknown') failBody(tx, 'XML: an unknown encoding');
    if (typeof encoding === 'object' && encoding.width === 4) failBody(tx, 'XML: not UTF-8');
    if (encoding === 'utf-8' && !truncated && !isUtf8(bytes)) failBody(tx, 'XML: not UTF-8');
    const { parseXmlIntoArgs } = tx.control;
    tx.xmlPresent = parseXmlIntoArgs !== 'onlyArgs';
    tx.xmlTruncated = truncated;
    const [from, to] = inUtf8(tx, start, end, encoding);
    if (tx.xmlPresent) reader.read(tx, from, to, truncated);
    if (parseXmlIntoArgs !== 'off') readArguments(tx, from, to);
  },
};

/** Where the document stands in UTF-8. */
function inUtf8(
  tx: Transaction,
  start: number,
  end: number,
  encoding: XmlEncoding,
): [from: number, to: number] {
  const bytes = tx.values.slab.subarray(start, end);
  const text = xmlInUtf8(bytes, encoding);
  if (text === bytes) return [start, end];
  const from = tx.values.append(text);
  return [from, from + text.length];
}

/** Arguments from the tree; without the other rows, what the tree does not show is text. */
function readArguments(tx: Transaction, start: number, end: number): void {
  const { root, reason, limit } = readXml(tx.values.slab.subarray(start, end), tx.xmlTruncated);
  if (reason !== null) failBody(tx, reason);
  if (limit !== null) reachLimit(tx, limit);
  const hides = limit !== null || (reason !== null && !tx.xmlPresent);
  if (hides && tx.settings.inspectsUnparsed) addRawText(tx, SOURCE.argPost, start, end);
  if (root !== null) addArguments(tx, root);
}

/** The tree of the XML body, made at the first call; null when there is none. */
export function xmlRootOf(tx: Transaction): XmlElement | null {
  if (!tx.xmlPresent || tx.xmlRoot !== null) return tx.xmlRoot;
  const bytes = tx.values.slab.subarray(tx.bodyStart, tx.bodyStart + tx.requestBodyBytes);
  tx.xmlRoot = readXml(xmlInUtf8(bytes, xmlEncodingOf(bytes)), tx.xmlTruncated).root;
  tx.xmlPresent = tx.xmlRoot !== null;
  return tx.xmlRoot;
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
