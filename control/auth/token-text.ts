/**
 * The text of an API token: `waf_`, its id, a secret of 238 bits, and a checksum by which scanners
 * of leaked secrets tell a token from any other text. Never stored; see `sha256OfToken`.
 */

import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const idCharacters = 12;
const secretCharacters = 40;
const checksumCharacters = 6;
const form = /^waf_([0-9A-Za-z]{12})[0-9A-Za-z]{46}$/;

/** Every token begins with it; no other credential of the product does. */
export const tokenPrefix = 'waf_';

/** An id for a new token. */
export function makeTokenId(): string {
  return randomText(idCharacters);
}

/** A new text for a token. */
export function makeTokenText(id: string): string {
  const body = `${tokenPrefix}${id}${randomText(secretCharacters)}`;
  return body + checksumOf(body);
}

/** The id in a text; null for a text whose form or checksum is wrong. */
export function idOfToken(text: string): string | null {
  const id = form.exec(text)?.[1];
  if (id === undefined) return null;
  const end = text.length - checksumCharacters;
  return checksumOf(text.slice(0, end)) === text.slice(end) ? id : null;
}

/** What is kept of a token, hex. */
export function sha256OfToken(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Whether two digests are the same; takes equally long wherever they differ. */
export function sameDigest(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
}

function checksumOf(body: string): string {
  let left = crc32(body);
  let text = '';
  for (let at = 0; at < checksumCharacters; at++) {
    text = alphabet.charAt(left % alphabet.length) + text;
    left = Math.floor(left / alphabet.length);
  }
  return text;
}

function randomText(characters: number): string {
  let text = '';
  while (text.length < characters) text += alphabet.charAt(randomInt(alphabet.length));
  return text;
}
