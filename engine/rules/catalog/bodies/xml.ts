/**
 * Owns the XML body processor: decoding the bytes, and which parts of the tree become rows. The
 * tree itself is xml-tree.ts, searching it xml-path.ts.
 */

import { isUtf8 } from 'node:buffer';

import { encodeUtf8 } from '../../../base/byte-string.ts';
import type { Transaction } from '../transaction.ts';
import type { BodyProcessorDefinition } from '../types.ts';
import { SOURCE } from '../values.ts';
import { failBody, hasArgumentRoom } from './arguments.ts';
import { readXml, textOf, type XmlElement } from './xml-tree.ts';

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
    const text = decode(tx, tx.values.slab.subarray(start, end), truncated);
    const { root, reason } = readXml(text, truncated);
    if (reason !== null) failBody(tx, reason);
    if (root === null) return;
    const { parseXmlIntoArgs } = tx.control;
    if (parseXmlIntoArgs !== 'off') addArguments(tx, root);
    if (parseXmlIntoArgs === 'onlyArgs') return;
    tx.xmlRoot = root;
    tx.values.addText(SOURCE.xmlText, '/*', encodeUtf8(textOf(root)));
    addAttributes(tx, root);
  },
};

/** XML 1.0 appendix F: the byte order mark, then what the declaration says, else UTF-8. */
function decode(tx: Transaction, bytes: Buffer, truncated: boolean): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) {
    const swapped = Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16();
    return new TextDecoder('utf-16le').decode(swapped);
  }
  const declaration = /^<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']/.exec(
    bytes.latin1Slice(0, Math.min(bytes.length, 200)),
  );
  const encoding = declaration?.[1]?.toLowerCase() ?? 'utf-8';
  if (/^(?:iso-?8859-1|latin1|windows-1252)$/.test(encoding)) return bytes.toString('latin1');
  if (!/^(?:utf-?8|us-ascii)$/.test(encoding)) failBody(tx, 'XML: an unknown encoding');
  else if (!truncated && !isUtf8(bytes)) failBody(tx, 'XML: not UTF-8');
  return bytes.toString('utf8', startsWithMark(bytes) ? 3 : 0);
}

function startsWithMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
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
