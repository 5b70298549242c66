/** How streams of serialized objects begin: readers of them take nothing that begins otherwise. */

import type { ByteString } from '../../base/byte-string.ts';

/** Bytes of a stream that show what it is, with the name of a first class. */
export const serializedHeadBytes = 64;

/** A class of a pickle, by its module or by a short string. */
const named = String.raw`\(?(?:c\w{2,32}\n|\x8c[\x02-\x40]\w\w)`;
/** Opcodes with which a pickle of protocol 2 to 5 begins: a class, a frame, a container, a name. */
const pickled = String.raw`\x80[\x02-\x05](?:\x95|[}\]][q\x94(]|${named})`;

/**
 * Streams of Java, of .NET's BinaryFormatter and ObjectStateFormatter, of Python's pickle, and of
 * Ruby's Marshal where an object is at the top: old session cookies of Rails are tables.
 */
export const serialized = new RegExp(
  String.raw`^(?:\xac\xed\0\x05|\0\x01\0\0\0\xff{4}|\xff\x01\x32|${pickled}|\x04\x08[oUue]:.\w)`,
);

/** Whether bytes from an offset on are such a stream. Cost: a look at one byte where text is. */
export function beginsSerialized(bytes: Buffer, from: number, to: number): boolean {
  const first = bytes[from]!;
  if (first > 0x04 && first < 0x80) return false;
  return serialized.test(headOf(bytes, from, to));
}

function headOf(bytes: Buffer, from: number, to: number): ByteString {
  return bytes.latin1Slice(from, Math.min(to, from + serializedHeadBytes));
}
