/** Signs as gpg does: version 4 Ed25519 keys and detached signatures, for tests of releases. */

import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

/** A key pair with what others trust it by. */
export interface TestSigner {
  readonly privateKey: KeyObject;
  readonly publicKey: Buffer;
  readonly fingerprint: string;
}

const eddsa = 22;
const sha512 = 10;
const curve = Buffer.from('092b06010401da470f01', 'hex');

/** Makes a key. */
export function testSigner(): TestSigner {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const head = Buffer.from([4, 0, 0, 0, 1, eddsa]);
  const body = Buffer.concat([head, curve, integer(Buffer.concat([Buffer.from([0x40]), point]))]);
  const hashed = Buffer.concat([Buffer.from([0x99, body.length >> 8, body.length & 0xff]), body]);
  const fingerprint = createHash('sha1').update(hashed).digest('hex').toUpperCase();
  return { privateKey, publicKey: packet(6, body), fingerprint };
}

/** A binary signature of a file. */
export function signDetached(
  { privateKey }: TestSigner,
  content: Uint8Array,
  how: {
    atSeconds?: number;
    lastsSeconds?: number;
    criticalType?: number;
    shortType?: number;
  } = {},
): Buffer {
  const { atSeconds = 1, lastsSeconds = 0, criticalType = 0, shortType = 0 } = how;
  const hashed = Buffer.concat([
    subpacket(2, seconds(atSeconds)),
    ...(lastsSeconds === 0 ? [] : [subpacket(3, seconds(lastsSeconds))]),
    ...(criticalType === 0 ? [] : [subpacket(criticalType | 0x80, Buffer.alloc(1))]),
    ...(shortType === 0 ? [] : [subpacket(shortType, Buffer.alloc(1))]),
  ]);
  const head = Buffer.concat([Buffer.from([4, 0, eddsa, sha512]), short(hashed.length), hashed]);
  const trailer = Buffer.concat([Buffer.from([4, 0xff]), seconds(head.length)]);
  const digest = createHash('sha512').update(content).update(head).update(trailer).digest();
  const value = sign(null, digest, privateKey);
  const ends = [short(0), digest.subarray(0, 2)];
  const integers = [integer(value.subarray(0, 32)), integer(value.subarray(32))];
  return packet(2, Buffer.concat([head, ...ends, ...integers]));
}

function packet(tag: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0xc0 | tag, 0xff]), seconds(body.length), body]);
}

function subpacket(type: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([content.length + 1, type]), content]);
}

/** A multiprecision integer; leading zeros are left out. */
function integer(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const short_ = first < 0 ? Buffer.alloc(0) : bytes.subarray(first);
  const bits = short_.length === 0 ? 0 : short_.length * 8 - Math.clz32(short_[0]!) + 24;
  return Buffer.concat([short(bits), short_]);
}

function short(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

function seconds(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
