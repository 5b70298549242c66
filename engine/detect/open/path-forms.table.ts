/**
 * Ways to write the dots and slashes of a path that lenient readers accept: UTF-8 of two to six bytes,
 * with tails that are no tails, hexadecimal numbers, code points. Source: RFC 3629, section 10;
 * CVE-2000-0884, CVE-2008-2938.
 */

import type { ByteString } from '../../../base/byte-string.ts';

const form =
  /(0x2e|\xc0[\xae\x2e\xee\xfe\x5e]|\xe0\x80\xae|\xf0\x80\x80\xae|\xf8\x80\x80\x80\xae|\xfc\x80\x80\x80\x80\xae|%(?:25)?c0%(?:25)?(?:ae|2e|ee|fe|5e)|%u(?:ff0e|002e|2024))|0x2f|0x5c|\xc0[\xaf\x2f\x5c]|\xc1[\xaf\x1c\x9c]|\xc0%(?:9v|qf)|\xc1%(?:8s|pc|1c)|\xe0\x80\xaf|\xf0\x80\x80\xaf|\xf8\x80\x80\x80\xaf|\xfc\x80\x80\x80\x80\xaf|%(?:25)?c0%(?:25)?(?:af|2f|5c|9v|qf)|%(?:25)?c1%(?:25)?(?:af|1c|9c|8s|pc)|%bg%qf|%u(?:efc8|f025|2215|2216|ff0f|002f|005c)/gi;

/** The text with plain dots and slashes; the same text where it has no such form. */
export function plainPath(text: ByteString): ByteString {
  return text.replace(form, (_whole, dot: string | undefined) => (dot === undefined ? '/' : '.'));
}

/** Dots and a slash, not both plain: random bytes have them once in a hundred million. */
const climb =
  /(?:\xc0[\xae\x2e\xee\xfe\x5e]|\xe0\x80\xae|\xf0\x80\x80\xae|\xf8\x80\x80\x80\xae|\xfc\x80\x80\x80\x80\xae){2}|[.?]{2}[\0\x01]{0,1}(?:\xc0[\xaf\x2f\x5c]|\xc0%(?:9v|qf)|\xc1[\xaf\x1c\x9c]|\xc1%(?:8s|pc|1c)|\xe0\x80\xaf|\xf0\x80\x80\xaf|\xf8\x80\x80\x80\xaf|\xfc\x80\x80\x80\x80\xaf)|(?:\.\.[\0\x01][\\/]){2}|(?:0x2e){2}(?:\xc0[\xaf\x2f\x5c]|\xc1[\xaf\x1c\x9c]|\xe0\x80\xaf|\xf0\x80\x80\xaf)|(?:\.[./\\?\0\x01]{1,6}(?:\xc0[\xaf\x2f\x5c]|\xc0%(?:9v|qf)|\xc1[\xaf\x1c\x9c]|\xc1%(?:8s|pc|1c)|\xe0\x80\xaf|\xf0\x80\x80\xaf|\xf8\x80{3}\xaf|\xfc\x80{4}\xaf)){2}/i;

/** Whether bytes climb out of a folder in one of these forms. */
export function climbsInForms(text: ByteString): boolean {
  return climb.test(text);
}
