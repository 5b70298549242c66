/**
 * The variable XML. The two selectors that rules use most, every text and every attribute, are
 * rows that the scanner sees; all others search the tree when asked.
 */

import { decodeUtf8, encodeUtf8, type ByteString } from '../../../../base/byte-string.ts';
import { xmlRootOf } from '../bodies/xml.ts';
import { compileXmlPath, selectXml, type XmlPath } from '../bodies/xml-path.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import type { VariableDefinition } from '../../transaction/types.ts';
import { type Entry, type SourceId, SOURCE } from '../../transaction/values.ts';
import { manual, rowCollection } from './define.ts';

const texts = {
  name: 'XML',
  summary: 'Parts of an XML body that an XPath expression selects, one entry a node.',
  example: 'SecRule XML:/* "@detectSQLi"',
  source: manual,
};

/** Compiled selectors; they come from rules only. */
const compiled = new Map<ByteString, XmlPath | null>();
const compiledMax = 1_000;

const xml: VariableDefinition = {
  ...texts,
  shape: 'collection',
  selector: 'xpath',
  entries: (tx) => (tx.xmlPresent ? [{ key: '', value: '[XML document tree]' }] : []),
  select,
  forXPath,
};

const xmlText = withRows(SOURCE.xmlText);
const xmlAttributes = withRows(SOURCE.xmlAttribute);

/** The general one; others come from its `forXPath`. */
export const xmlVariables: readonly VariableDefinition[] = [xml];

/**
 * The definition that serves `XML:<xpath>`: for `/*` and `//@*` one that consists of rows, so that
 * they can be scanned; for others the general one. Null when the expression is not supported.
 */
function forXPath(xpath: ByteString): VariableDefinition | null {
  if (xpath === '/*') return xmlText;
  if (xpath === '//@*') return xmlAttributes;
  return pathOf(xpath) === null ? null : xml;
}

function withRows(source: SourceId): VariableDefinition {
  const rows = rowCollection(texts, [source]);
  return { ...rows, selector: 'xpath', select: (tx) => rows.entries(tx), forXPath };
}

function select(
  tx: Transaction,
  xpath: ByteString,
  namespaces: ReadonlyMap<string, string>,
): readonly Entry[] {
  if (xpath === '/*') return xmlText.entries(tx);
  if (xpath === '//@*') return xmlAttributes.entries(tx);
  const path = pathOf(xpath);
  const root = path === null ? null : xmlRootOf(tx);
  if (path === null || root === null) return [];
  return selectXml(root, path, namespaces, tx).map((value) => ({
    key: xpath,
    value: encodeUtf8(value),
  }));
}

function pathOf(xpath: ByteString): XmlPath | null {
  const known = compiled.get(xpath);
  if (known !== undefined) return known;
  const path = compileXmlPath(decodeUtf8(xpath));
  if (compiled.size >= compiledMax) compiled.clear();
  compiled.set(xpath, path);
  return path;
}
