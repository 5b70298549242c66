/**
 * The hash of a password that opens a path of a site, made in the browser: the password never
 * leaves it. Shape: `scrypt:salt:key`, both in base64url. Source: RFC 7914, N = 16384, r = 8 and p
 * = 1. Cost: 16 MiB and some tenths of a second.
 */

const saltBytes = 16;
const keyBytes = 32;
const rounds = 16_384;
/** Words of 32 bits of a block: 32 times r. */
const blockWords = 256;

/** The hash of a password. */
export async function hashPathPassword(
  password: string,
  salt = crypto.getRandomValues(new Uint8Array(saltBytes)),
): Promise<string> {
  const text = new TextEncoder().encode(password);
  const block = await pbkdf2(text, salt, 4 * blockWords);
  const view = new DataView(block.buffer);
  const words = Uint32Array.from({ length: blockWords }, (_, at) => view.getUint32(4 * at, true));
  mixRounds(words);
  words.forEach((word, at) => view.setUint32(4 * at, word, true));
  const key = await pbkdf2(text, block, keyBytes);
  return `scrypt:${base64Url(salt)}:${base64Url(key)}`;
}

/** One iteration of HMAC-SHA-256. */
async function pbkdf2(
  password: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  bytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits']);
  const how = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: 1 };
  return new Uint8Array(await crypto.subtle.deriveBits(how, key, 8 * bytes));
}

/** RFC 7914 section 5: scryptROMix over a block, in place. */
function mixRounds(block: Uint32Array): void {
  const kept = new Uint32Array(rounds * blockWords);
  const spare = new Uint32Array(blockWords);
  for (let round = 0; round < rounds; round += 1) {
    kept.set(block, round * blockWords);
    mixBlock(block, spare);
  }
  for (let round = 0; round < rounds; round += 1) {
    const from = (block[blockWords - 16]! & (rounds - 1)) * blockWords;
    for (let at = 0; at < blockWords; at += 1) block[at]! ^= kept[from + at]!;
    mixBlock(block, spare);
  }
}

/** RFC 7914 section 4: scryptBlockMix; pieces at even places come first. */
function mixBlock(block: Uint32Array, spare: Uint32Array): void {
  const piece = block.slice(blockWords - 16);
  const pieces = blockWords / 16;
  for (let index = 0; index < pieces; index += 1) {
    for (let at = 0; at < 16; at += 1) piece[at]! ^= block[16 * index + at]!;
    salsa(piece);
    const place = index % 2 === 0 ? index / 2 : (pieces + index - 1) / 2;
    spare.set(piece, 16 * place);
  }
  block.set(spare);
}

/** Places of the four words of each quarter round: of columns, then of rows. */
const quarters = new Uint8Array([
  ...[0, 4, 8, 12, 5, 9, 13, 1, 10, 14, 2, 6, 15, 3, 7, 11],
  ...[0, 1, 2, 3, 5, 6, 7, 4, 10, 11, 8, 9, 15, 12, 13, 14],
]);

const worked = new Uint32Array(16);

/** RFC 7914 section 3: the Salsa20/8 core, in place. */
function salsa(words: Uint32Array): void {
  const x = worked;
  x.set(words);
  for (let twice = 0; twice < 4; twice += 1) {
    for (let at = 0; at < quarters.length; at += 4) {
      const a = quarters[at]!;
      const b = quarters[at + 1]!;
      const c = quarters[at + 2]!;
      const d = quarters[at + 3]!;
      x[b]! ^= turned(x[a]! + x[d]!, 7);
      x[c]! ^= turned(x[b]! + x[a]!, 9);
      x[d]! ^= turned(x[c]! + x[b]!, 13);
      x[a]! ^= turned(x[d]! + x[c]!, 18);
    }
  }
  for (let at = 0; at < 16; at += 1) words[at]! += x[at]!;
}

const turned = (sum: number, bits: number): number => (sum << bits) | (sum >>> (32 - bits));

function base64Url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
