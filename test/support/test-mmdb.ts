/** A tiny MaxMind database for tests: every address lies in one country. */

/** A database of type `type` whose one record says `country_code`. Source: MaxMind DB 2.0. */
export function makeTestMmdb(country: string, type = 'Test-Country'): Buffer {
  // One node whose sides both point at the first record of the data section.
  const nodeCount = 1;
  const pointer = nodeCount + 16;
  const tree = Buffer.from([0, 0, pointer, 0, 0, pointer]);
  const data = map({ country_code: text(country) });
  const metadata = map({
    node_count: uint(6, nodeCount, 1),
    record_size: uint(5, 24, 1),
    ip_version: uint(5, 6, 1),
    database_type: text(type),
    binary_format_major_version: uint(5, 2, 1),
    binary_format_minor_version: uint(5, 0, 0),
    build_epoch: Buffer.concat([Buffer.from([0x04, 2]), uint32(1_790_000_000)]),
    languages: Buffer.from([0x00, 4]),
    description: Buffer.from([0xe0]),
  });
  const marker = Buffer.concat([Buffer.from([0xab, 0xcd, 0xef]), Buffer.from('MaxMind.com')]);
  return Buffer.concat([tree, Buffer.alloc(16), data, marker, metadata]);
}

function map(members: Readonly<Record<string, Buffer>>): Buffer {
  const entries = Object.entries(members);
  const parts = entries.flatMap(([name, value]) => [text(name), value]);
  return Buffer.concat([Buffer.from([0xe0 | entries.length]), ...parts]);
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40 | value.length]), Buffer.from(value)]);
}

/** Types 5 (16 bits) and 6 (32 bits) with as many bytes as the value needs. */
function uint(type: number, value: number, bytes: number): Buffer {
  const content = bytes === 0 ? Buffer.alloc(0) : Buffer.from([value]);
  return Buffer.concat([Buffer.from([(type << 5) | bytes]), content]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
