/**
 * Opens XML: texts, CDATA sections and values of attributes are leaves. What begins no XML document
 * stays text, as pieces of HTML do. Source: XML 1.0, fifth edition.
 */

import { decodeCharacterReferences } from '../../base/character-references.ts';
import type { ByteString } from '../../../base/byte-string.ts';
import type { Leaves } from './leaves.ts';

const documentPattern =
  /^(?:\xef\xbb\xbf)?\s{0,64}<(?:\?xml\s|!DOCTYPE\s{1,8}\w|[\w-]{1,32}:[A-Z])/i;
const attributePattern = /[\w:.-]{1,128}\s{0,8}=\s{0,8}(?:"([^"<]{1,8192})"|'([^'<]{1,8192})')/g;
const piecesMax = 1_024;

/** Adds its leaves; false if it begins no XML document. */
export function openXml(text: ByteString, leaves: Leaves): boolean {
  if (!documentPattern.test(text.slice(0, 128))) return false;
  let at = 0;
  for (let count = 0; count < piecesMax && at < text.length; count++) {
    const open = text.indexOf('<', at);
    const end = open < 0 ? text.length : open;
    addText(text.slice(at, end), leaves);
    if (open < 0) break;
    at = openTag(text, open, leaves);
  }
  if (at < text.length) leaves.add('xml', text.slice(at));
  return true;
}

const codeElement = /(<(?:code|pre)(?:\s[^<>]{0,200})?>)([^<]{1,8192})(?=<\/(?:code|pre)>)/gi;
/** What attacks do in markup, of which the rest shows, loads a file of the site, or fails. */
const acts =
  /\bon[a-z]{3,20}\s{0,8}=|script\s{0,8}:|srcdoc|data:|["'`=\s](?:[a-z]{2,8}:)?[\\/]{2}|\b(?:alert|confirm|prompt|eval|fetch|atob|import|function|settimeout)\b|\b(?:document|window|self|top|location|this)\b|[{<]\s{0,4}[%?{]/i;

/**
 * HTML without what its elements of code quote by character references: a page shows that as text.
 * What would act where references are read twice stays.
 */
export function withoutQuotedMarkup(text: ByteString): ByteString {
  return text.replaceAll(codeElement, (whole: string, tag: string, content: string) => {
    return acts.test(decodeCharacterReferences(content)) ? whole : tag;
  });
}

/** The offset after a tag, section or comment. */
function openTag(text: ByteString, open: number, leaves: Leaves): number {
  if (text.startsWith('<![CDATA[', open)) {
    const close = text.indexOf(']]>', open);
    leaves.add('xml', text.slice(open + 9, close < 0 ? text.length : close));
    return close < 0 ? text.length : close + 3;
  }
  if (text.startsWith('<!--', open)) {
    const close = text.indexOf('-->', open);
    addText(text.slice(open + 4, close < 0 ? text.length : close), leaves);
    return close < 0 ? text.length : close + 3;
  }
  const close = text.indexOf('>', open);
  const tag = text.slice(open, close < 0 ? text.length : close);
  for (const found of tag.matchAll(attributePattern)) {
    const value = found[1] ?? found[2] ?? '';
    if (!value.includes('://') || value.includes(' ')) addText(value, leaves);
  }
  // A tag that does not end is text.
  if (close < 0) leaves.add('xml', tag);
  return close < 0 ? text.length : close + 1;
}

function addText(raw: ByteString, leaves: Leaves): void {
  if (raw.trim() === '') return;
  leaves.add('xml', raw.includes('&') ? decodeCharacterReferences(raw).trim() : raw.trim());
}
