/**
 * Tells markup that editors write from markup that can act: of each tag, attribute, address and
 * style it is known that browsers run nothing for it. What is not known is not harmless. Pure.
 * Source: HTML Living Standard; the lists are what sanitizers of HTML keep.
 */

import type { ByteString } from '../../base/byte-string.ts';
import { acts, freeAttributes, tags, unsafeData, urlAttributes } from './harmless-markup.table.ts';

/** Longer texts are not looked at. */
const bytesMax = 65_536;

const tagStart = /<(\/?)([a-z][a-z0-9:]{0,15})/iy;
const quoted = '"([^"<>]*)"|\'([^\'<>]*)\'';
const attribute = new RegExp(
  `\\s{1,200}([a-z][\\w:.-]{0,60})(?:\\s{0,4}=\\s{0,4}(?:${quoted}|([\\w%#.,:/?&=;+~-]{1,2000})))?`,
  'iy',
);
const tagEnd = /\s{0,200}\/?>/y;
const comment = /<!--(?!\s{0,20}[#[])[^<>-]{0,200}-->/y;

/** True for a text with tags of which none can act. Cost: linear, a step for each tag. */
export function isHarmlessMarkup(text: ByteString): boolean {
  if (text.length > bytesMax || acts.test(text)) return false;
  let at = 0;
  for (let found = 0; ; found++) {
    const open = text.indexOf('<', at);
    if (!isPlain(text.slice(at, open < 0 ? text.length : open))) return false;
    if (open < 0) return found > 0;
    at = endOfTag(text, open);
    if (at < 0) return false;
  }
}

/** -1 for what is no tag or one that may act. */
function endOfTag(text: ByteString, open: number): number {
  const closed = matchAt(comment, text, open);
  if (closed !== null) return open + closed[0].length;
  const start = matchAt(tagStart, text, open);
  if (start === null || !tags.has(start[2]!.toLowerCase())) return -1;
  let at = open + start[0].length;
  for (let one = matchAt(attribute, text, at); one !== null; one = matchAt(attribute, text, at)) {
    if (start[1] === '/') return -1;
    if (!isHarmless(one[1]!.toLowerCase(), one[2] ?? one[3] ?? one[4] ?? '')) return -1;
    at += one[0].length;
  }
  const end = matchAt(tagEnd, text, at);
  return end === null ? -1 : at + end[0].length;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Text that leaves no attribute and opens no tag once its references are read. */
function isPlain(text: string): boolean {
  if (/["']\s{0,4}\/?>/.test(text)) return false;
  return !/&lt(?!;?(?:[\s\d=-]|[\w.+-]{1,64}@[\w.-]{1,253}&gt;|$))/i.test(text);
}

function isHarmless(name: string, value: string): boolean {
  if (name === 'style') return isHarmlessStyle(value);
  if (name === 'srcset') return value.split(/,\s/).every((one) => isHarmlessUrl(one));
  if (urlAttributes.has(name)) return isHarmlessUrl(value);
  if (name.startsWith('data-')) return !unsafeData.test(name);
  return freeAttributes.has(name) || name.startsWith('aria-');
}

const image = /^data:image\/(?:png|gif|jpe?g|webp|bmp);base64,[\w+/=\s]*$/i;
const scheme = /^(?:(?:https?|ftp):\/\/|\/\/|mailto:|tel:|sms:|cid:)/i;

/** Of a scheme that shows or fetches something, or of none. */
function isHarmlessUrl(value: string): boolean {
  const url = value.trim();
  if (/&(?!amp;)[a-z]{1,30};/i.test(url)) return false;
  if (scheme.test(url) || image.test(url)) return true;
  return /^[^:&]*(?:$|[/?#])/.test(url);
}

/** Without addresses, escapes and comments, and of what lies in the text's own place. */
function isHarmlessStyle(value: string): boolean {
  const text = value.replace(/&quot;|&amp;/gi, '"');
  if (!/^[\w\s:;,.#%()"'!+/-]*$/.test(text) || text.includes('/*')) return false;
  return !/url\s*\(|position\s*:\s*(?!relative|static)|opacity|z-index|pointer-events/i.test(text);
}
