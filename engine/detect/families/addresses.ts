/**
 * The family of addresses: reads the host of each URL as name resolvers do, and finds internal ones
 * in notations that people do not write. Source: inet_aton(3), WHATWG URL section 3.5, UTS 46.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { detectLimits } from '../../base/detect-limits.ts';
import { SEEN } from '../bytes-seen.ts';
import type { Detector, Family } from '../detector.ts';
import { decodePercent } from '../open/escapes.ts';
import { textKinds } from '../patterns.ts';

const disguised: Detector = {
  id: 198_544,
  name: 'disguised-address',
  family: 'addresses',
  proves: 'is a URL of an internal address in a notation that hides it',
  source: 'POSIX.1-2017, inet_addr; WHATWG URL, section 3.5; Unicode UTS 46',
  strong: true,
  confirmedBy: [931, 934],
  address: true,
  examples: {
    attacks: [
      ...['http://0xa9.0xfe.0xa9.0xfe/', 'http://169.254.43518/', 'http://0300.0250.0.1/x'],
      ...['gopher://127\xe3\x80\x820\xe3\x80\x820\xe3\x80\x821/', 'a=//3232235777/'],
      ...['http://localhos\xef\xbd\x94/', 'http://%6cocalhost/'],
    ],
    benign: [
      ...['http://192.168.0.1/', 'http://8.8.2056/', 'https://1.10/x', 'http://2130706434567/'],
      ...['lib//10.2/a.js', 'http://\xd0\xb0.example/', 'Open http://LocalHost:8080/'],
    ],
  },
};

/** The family of addresses. */
export const addresses: Family = {
  name: 'addresses',
  needs: [SEEN.slash],
  literals: [['//']],
  kinds: [...textKinds, 'url'],
  detectors: [disguised],
  find: ({ text }, _searches, report) => {
    authority.lastIndex = 0;
    // No number of plain addresses hides the next one.
    for (let hits = 0; hits <= detectLimits.hitsPerDetectorMax;) {
      const found = authority.exec(text);
      if (found === null) return;
      const host = found[1]!.slice(found[1]!.lastIndexOf('@') + 1).replace(/:\d{0,5}$/, '');
      if (!isDisguised(host)) continue;
      report.add(disguised.id, found.index, authority.lastIndex);
      hits++;
    }
  },
};

const authority = /(?:^|[\s"'(,=]|[a-z][a-z0-9+.-]{1,12}:)\/\/([^ \t\r\n/?#"'<>\\]{1,255})/gi;
/** Four numbers without leading zeros. */
const plainAddress = /^(?:(?:0|[1-9]\d{0,2})(?:\.|$)){4}$/;

/** Of a host whose last label begins with a letter, and that decoding leaves as it is. */
const plainName = /^[^%\x80-\xff]*$/;
const lastLabel = /^[a-z]/i;

function isDisguised(host: ByteString): boolean {
  // No number begins with a letter: most hosts are done here.
  if (lastLabel.test(host.slice(host.lastIndexOf('.') + 1)) && plainName.test(host)) return false;
  const read = asResolved(host);
  if (plainAddress.test(host)) return false;
  if (read !== host.toLowerCase() && read === 'localhost') return true;
  const address = addressOf(read);
  return address >= 0 && isInternal(address);
}

/** A host as browsers and libraries read it: without percent signs, in compatible characters. */
function asResolved(host: ByteString): string {
  const bytes = decodePercent(host);
  if (!/[\x80-\xff]/.test(bytes)) return bytes.toLowerCase();
  const text = Buffer.from(bytes, 'latin1').toString('utf8').normalize('NFKC');
  return text.replaceAll('\u3002', '.').toLowerCase();
}

/** The address that one to four numbers are, in any base; -1 for none. Source: inet_aton(3). */
function addressOf(host: string): number {
  const parts = (host.endsWith('.') ? host.slice(0, -1) : host).split('.');
  if (parts.length > 4) return -1;
  let address = 0;
  for (const [at, part] of parts.entries()) {
    const number = numberOf(part);
    const isLast = at === parts.length - 1;
    const max = isLast ? 256 ** (5 - parts.length) : 256;
    if (number < 0 || number >= max) return -1;
    address += isLast ? number : number * 256 ** (3 - at);
  }
  return address;
}

function numberOf(part: string): number {
  if (/^0x[\da-f]{1,8}$/.test(part)) return Number.parseInt(part.slice(2), 16);
  if (/^0[0-7]{1,11}$/.test(part)) return Number.parseInt(part, 8);
  return /^\d{1,10}$/.test(part) ? Number(part) : -1;
}

/** Source: RFC 6890. */
function isInternal(address: number): boolean {
  const first = Math.floor(address / 2 ** 24);
  const two = Math.floor(address / 2 ** 16);
  if (first === 10 || first === 127 || address === 0) return true;
  return two === 0xa9fe || two === 0xc0a8 || (two >= 0xac10 && two <= 0xac1f);
}
