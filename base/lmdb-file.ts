/**
 * The look at an LMDB file before it is opened: the library ends the process over a file that is
 * none of its own, so that nobody could say what is wrong.
 */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Offsets in a meta page, of which a file has two: its header has 24 bytes. */
const at = { magic: 24, version: 28, pageSize: 48, trees: [48, 96], end: 160 } as const;
/** Offsets in the description of a tree: numbers of its pages of each kind, and its first page. */
const inTree = { pages: [8, 16, 24], root: 40 } as const;
const magic = 0xbeefc0de;
const version = 2;
const noPage = 0xffff_ffff_ffff_ffffn;

/** Why a file cannot be opened as an LMDB environment; null when it can. Errors: of reading. */
export function lmdbFileProblem(path: string): string | null {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size === 0) return null;
    const first = readMeta(file, 0);
    if (first === null) return 'it is no store';
    const { pageSize } = first;
    const second = readMeta(file, pageSize);
    if (second === null || second.pageSize !== pageSize) return 'its second page is damaged';
    // The older of both may name pages that were given up since; one of them has to fit.
    const pages = Math.floor(size / pageSize);
    const fits = [first, second].some(({ pagesMin }) => pagesMin <= pages);
    return fits ? null : 'it is cut off';
  } finally {
    closeSync(file);
  }
}

interface Meta {
  readonly pageSize: number;
  /** A file with fewer pages lacks some of its trees. */
  readonly pagesMin: bigint;
}

function readMeta(file: number, position: number): Meta | null {
  const bytes = Buffer.alloc(at.end);
  if (readSync(file, bytes, 0, at.end, position) < at.end) return null;
  const pageSize = bytes.readUInt32LE(at.pageSize);
  const ours = bytes.readUInt32LE(at.magic) === magic;
  if (!ours || (bytes.readUInt32LE(at.version) & 0xffff) !== version) return null;
  if (pageSize < 512 || pageSize > 65_536 || pageSize % 512 !== 0) return null;
  let used = 2n;
  let last = 0n;
  for (const tree of at.trees) {
    for (const offset of inTree.pages) used += bytes.readBigUInt64LE(tree + offset);
    const root = bytes.readBigUInt64LE(tree + inTree.root);
    if (root !== noPage && root > last) last = root;
  }
  return { pageSize, pagesMin: used > last + 1n ? used : last + 1n };
}
