/**
 * Writes tar archives that are the same for the same files: names in order, no times, no owners.
 * Source: POSIX.1-2017 pax interchange format (ustar header, pax record for long names).
 */

const blockBytes = 512;

/** A file of an archive. */
export interface TarFile {
  /** Below the archive's root, with slashes. */
  readonly name: string;
  readonly executable: boolean;
  readonly content: Uint8Array;
  /** A folder; its content is empty, its name ends with a slash. */
  readonly isFolder?: boolean;
  /** User and group by number; root where absent. */
  readonly owner?: number;
}

/** The pieces of an archive, for a stream. Cost: one copy of nothing but headers. */
export function* tarPieces(files: Iterable<TarFile>): Generator<Uint8Array> {
  for (const { name, executable, content, isFolder = false, owner = 0 } of files) {
    if (Buffer.byteLength(name) > 100) {
      const record = paxRecord('path', name);
      yield header('pax', record.length, 'x', false, 0);
      yield padded(record);
    }
    const type = isFolder ? '5' : '0';
    yield header(name.slice(0, 100), content.length, type, executable || isFolder, owner);
    yield content;
    const rest = content.length % blockBytes;
    if (rest > 0) yield Buffer.alloc(blockBytes - rest);
  }
  yield Buffer.alloc(2 * blockBytes);
}

function header(
  name: string,
  size: number,
  type: string,
  executable: boolean,
  owner: number,
): Buffer {
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, length: number): string =>
    `${value.toString(8).padStart(length - 1, '0')}\0`;
  block.write(Buffer.from(name).subarray(0, 100).toString('latin1'), 0, 'latin1');
  block.write(octal(executable ? 0o755 : 0o644, 8), 100);
  block.write(octal(owner, 8), 108);
  block.write(octal(owner, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  block.write('        ', 148);
  block.write(type, 156);
  block.write('ustar\u000000', 257, 'latin1');
  let sum = 0;
  for (const byte of block) sum += byte;
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** A record says its own length, that of the number included. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`);
}

function padded(bytes: Buffer): Buffer {
  const rest = bytes.length % blockBytes;
  return rest === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(blockBytes - rest)]);
}
