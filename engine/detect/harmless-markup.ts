/**
 * Tells markup that editors write from markup that can act: of each tag, attribute, address and
 * style it is known that browsers run nothing for it. What is not known is not harmless. Pure.
 * Source: HTML Living Standard; the lists are what sanitizers of HTML keep.
 */

import type { ByteString } from '../../base/byte-string.ts';
import {
  acts,
  drawing,
  freeAttributes,
  ownTags,
  pageAttributes,
  pageTags,
  tags,
  unsafeData,
  urlAttributes,
} from './harmless-markup.table.ts';
import { callsOwnFunctions } from './own-code.ts';

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

/** The beginning of a whole document of HTML, with the types of W3C. */
const pageStart = new RegExp(
  String.raw`^(?:\xef\xbb\xbf)?\s{0,200}(?:<!doctype html(?:\s{1,8}public\s{1,8}"-//w3c//dtd [\w .]{1,40}//en"` +
    String.raw`(?:\s{1,8}"https?://www\.w3\.org/[\w./-]{1,80}")?)?\s{0,8}>\s{0,200})?(?=<html[\s>])`,
  'i',
);

/** True for a text with tags of which none can act. Cost: linear, a step for each tag. */
export function isHarmlessMarkup(text: ByteString): boolean {
  if (text.length > bytesMax) return false;
  const page = pageStart.exec(text);
  let at = page?.[0].length ?? 0;
  if (acts.test(text.slice(at))) return false;
  for (let found = 0; ; found++) {
    const open = text.indexOf('<', at);
    if (!isPlain(text.slice(at, open < 0 ? text.length : open))) return false;
    if (open < 0) return found > 0;
    at = page === null ? endOfTag(text, open) : endOfPageTag(text, open);
    if (at < 0) return false;
  }
}

/** As `endOfTag`, in a whole document. */
function endOfPageTag(text: ByteString, open: number): number {
  const end = endOfTag(text, open);
  if (end >= 0) return end;
  const start = matchAt(tagStart, text, open);
  const tag = start?.[2]?.toLowerCase() ?? '';
  if (start === null || !pageTags.has(tag)) return -1;
  if (tag === 'style' && start[1] === '') return endOfStyle(text, open);
  return endOfAttributes(
    text,
    open + start[0].length,
    (name, value) => start[1] === '' && isHarmlessOfPage(tag, name, value),
  );
}

/** Of `<style>` with rules that load nothing and cover nothing; -1 for others. */
function endOfStyle(text: ByteString, open: number): number {
  const begin = ownStyle.exec(text.slice(open, open + 64))?.[0].length ?? 0;
  const rules = begin === 0 ? null : matchAt(pageRules, text, open + begin);
  if (rules === null || covers.test(rules[0])) return -1;
  return open + begin + rules[0].length;
}

/** What `http-equiv` may say: a type, a language, a mode. */
const meaning = /^(?:content-type|content-language|x-ua-compatible)$/i;
const owner = String.raw`https?:\/\/(?:www\.w3\.org|schemas\.microsoft\.com)\/|urn:schemas-microsoft-com:`;
const namespace = new RegExp(String.raw`^(?:${owner})[\w:./-]*$`, 'i');

function isHarmlessOfPage(tag: string, name: string, value: string): boolean {
  if (name === 'http-equiv') return tag === 'meta' && meaning.test(value);
  if (name === 'xmlns' || name.startsWith('xmlns:')) return tag === 'html' && namespace.test(value);
  return pageAttributes.has(name) || isHarmless(name, value);
}

/**
 * Whether the tag at an offset is one of a page that people write about: harmless but for handlers
 * that call nothing but functions of that page, or the head of a drawing or of rules of style.
 */
export function isOwnTag(text: ByteString, open: number): boolean {
  const end = endOfTag(text, open, ownTags);
  if (end < 0) return false;
  if (/^<svg\s[^>]/i.test(text.slice(open, open + 6))) return true;
  return ownHandlers > 0 || ownStyle.test(text.slice(open, open + 64));
}

const ownStyle = /^<style(?: (?:type="text\/css"|media="[a-z]{1,16}")){0,2}>/i;

/** A character of rules of style that load nothing from elsewhere and run nothing. */
const ruleCharacter =
  String.raw`(?!@import|behaviou?r|binding|expression|` +
  String.raw`url\(\s{0,8}["']?(?:[a-z]{1,16}:|[\\/]{2}))[^<\\&]`;

/** Such rules to the end of their element. */
const ownRules = new RegExp(String.raw`(?:${ruleCharacter}){1,2000}<\/style>`, 'iy');

/** The same in a whole document; mail programs put them into a comment. */
const pageRules = new RegExp(
  String.raw`\s{0,8}(?:<!--(?!\s{0,20}[#[]))?(?:${ruleCharacter}){1,20000}<\/style>`,
  'iy',
);

/** Event handlers of the tag that was read last; all of them call functions of the page. */
let ownHandlers = 0;

/** -1 for what is no tag or one that may act; with `own` also for one with other handlers. */
function endOfTag(text: ByteString, open: number, own: ReadonlySet<string> | null = null): number {
  ownHandlers = 0;
  const closed = matchAt(comment, text, open);
  if (closed !== null) return open + closed[0].length;
  const start = matchAt(tagStart, text, open);
  const tag = start?.[2]?.toLowerCase() ?? '';
  if (own !== null && tag === 'style') {
    const begin = ownStyle.exec(text.slice(open, open + 64))?.[0].length ?? 0;
    return begin === 0 || matchAt(ownRules, text, open + begin) === null ? -1 : open + begin;
  }
  const frames = tag === 'iframe';
  if (start === null || !(frames || tags.has(tag) || own?.has(tag) === true)) return -1;
  return endOfAttributes(text, open + start[0].length, (name, value, place) => {
    if (start[1] === '/') return false;
    if (own !== null && name.startsWith('on')) {
      ownHandlers++;
      return callsOwnFunctions(text, text.indexOf('=', place));
    }
    if (frames && name === 'src') return player.test(value);
    return isHarmless(name, value) || (own !== null && isOwnAttribute(name, value));
  });
}

type Accepts = (name: string, value: string, place: number) => boolean;

/** Where a tag ends whose attributes begin at an offset; -1 where one is not accepted. */
function endOfAttributes(text: ByteString, start: number, accepts: Accepts): number {
  let at = start;
  for (let one = matchAt(attribute, text, at); one !== null; one = matchAt(attribute, text, at)) {
    if (!accepts(one[1]!.toLowerCase(), one[2] ?? one[3] ?? one[4] ?? '', at)) return -1;
    at += one[0].length;
  }
  const end = matchAt(tagEnd, text, at);
  return end === null ? -1 : at + end[0].length;
}

/** Players and maps that editors put into a frame, which its own origin keeps from the page. */
const players = [
  String.raw`(?:www\.)?youtube(?:-nocookie)?\.com\/embed\/`,
  String.raw`player\.vimeo\.com\/video\/`,
  String.raw`(?:www\.|maps\.)?google\.com\/maps(?:\/d)?\/(?:embed|u\/)`,
  String.raw`www\.openstreetmap\.org\/export\/embed\.html`,
  String.raw`open\.spotify\.com\/embed`,
  String.raw`w\.soundcloud\.com\/player\/`,
  String.raw`www\.dailymotion\.com\/embed\/`,
];
const player = new RegExp(
  String.raw`^(?:https:)?\/\/(?:${players.join('|')})[\w/.,:;?&=%!+-]*$`,
  'i',
);

/** An address that does nothing, or the shape of a drawing. */
function isOwnAttribute(name: string, value: string): boolean {
  if (name === 'href') return /^javascript:(?:void\(0\))?;?$/i.test(value);
  return drawing.has(name) && /^[\w\s#.,:/%()-]*$/.test(value);
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
  return !/url\s*\(/i.test(text) && !covers.test(text);
}

/** Styles that may lie over what is beside the text. */
const covers = /position\s*:\s*(?!relative|static)|opacity|z-index|pointer-events/i;
