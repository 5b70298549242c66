/**
 * The databases of scan groups: taken from shared memory or the cache, else compiled, and the cache
 * entry that makes the next start compile nothing. Never touches the disk itself; the cache is a
 * port.
 */

import { createHash } from 'node:crypto';
import { HsDatabase, platformKey } from '../../match/scan.ts';
import type { Logger } from '../../../base/log.ts';
import type {
  CompiledTier,
  DatabaseImage,
  ExpressionMode,
  SharedGroup,
} from '../../contract/shared-images.ts';
import { chainPartsOf, partOf } from './chain-parts.ts';
import { Compilations } from './compilations.ts';
import { compileExpressions, expressionsOf, longestOf } from './expressions.ts';
import type { ScanGroup, ScanPattern } from './scan-draft.ts';
import { narrowMasksOf } from './value-tiers.ts';

/** Where databases and plans are kept between starts. A port: the state room writes files. */
export interface DatabaseCache {
  /** The entry's bytes, or null; never throws. */
  get(key: string): Uint8Array | null;
  put(key: string, bytes: Uint8Array): void;
  /** Databases that another thread has unpacked into shared memory already; optional. */
  shared?(key: string): SharedGroup | null;
}

/** Databases of one scan group, by tier. */
export interface CompiledGroup<Image = DatabaseImage> {
  /** By Hyperscan expression id; a word list has one expression a word. */
  readonly expressions: readonly { readonly pattern: ScanPattern }[];
  /** By expression id. */
  readonly modes: readonly ExpressionMode[];
  readonly tiers: readonly CompiledTier<Image>[];
}

/** Raise it when the entry's layout or the meaning of its databases changes. */
const cacheFormat = 13;
const none = Buffer.alloc(0);

/**
 * Compiles groups or takes them from the cache, several at once. `onDone` is called for each with
 * the number of those that are ready. Cost: some seconds for all of a rule set, when not cached.
 */
export function compileGroups(
  groups: readonly ScanGroup[],
  cache: DatabaseCache,
  log: Logger,
  onDone: (ready: number) => void,
): CompiledGroup[] {
  const list = groups.map((group) => findGroup(group, cache, log));
  let ready = list.filter((one) => one !== null).length;
  onDone(ready);
  if (ready === list.length) return list as CompiledGroup[];
  const compilations = new Compilations();
  const work = groups.flatMap((group, at) => {
    if (list[at] !== null) return [];
    const masks = narrowMasksOf(group.classes);
    const expressions = group.patterns.flatMap((pattern) => expressionsOf(pattern, masks));
    return [{ group, at, masks, expressions }];
  });
  // What takes longest begins first, so that no thread is left alone with it at the end.
  work.sort((left, right) => longestOf(right.expressions) - longestOf(left.expressions));
  try {
    for (const { group, at, masks, expressions } of work) {
      const parts = chainPartsOf(group.patterns);
      compileExpressions(expressions, masks, parts, compilations, (compiled) => {
        const key = cacheKey(group);
        cache.put(key, writeEntry(compiled, key));
        list[at] = compiled;
        onDone(++ready);
      });
    }
    compilations.finish();
  } finally {
    compilations.close();
  }
  return list as CompiledGroup[];
}

/** The group from shared memory or the cache; null where it has to be compiled. */
function findGroup(group: ScanGroup, cache: DatabaseCache, log: Logger): CompiledGroup | null {
  const key = cacheKey(group);
  const owners = group.patterns.flatMap((pattern) => ownersOf(pattern));
  const shared = cache.shared?.(key);
  if (shared) return { expressions: owners, ...shared };
  const cached = cache.get(key);
  if (!cached) return null;
  const entry = readEntry(cached, owners.length, key);
  if (entry === null) {
    log.warn('database cache entry is damaged or foreign; compiling it again', { key });
  }
  return entry && { expressions: owners, ...entry };
}

/** The databases of the group with this key, from shared memory or the cache; null: none there. */
export function findTiers(key: string, cache: DatabaseCache): readonly CompiledTier[] | null {
  const shared = cache.shared?.(key);
  if (shared) return shared.tiers;
  const cached = cache.get(key);
  return cached && (readEntry(cached, 0, key)?.tiers ?? null);
}

/**
 * The group with this key and number of expressions, in shared memory; null where none is cached.
 */
export function findShared(
  key: string,
  expressions: number,
  cache: DatabaseCache,
): SharedGroup | null {
  const shared = cache.shared?.(key);
  if (shared) return shared;
  const cached = cache.get(key);
  const entry = cached && readEntry(cached, expressions, key);
  return entry && shareGroup(entry);
}

/** A group's databases in shared memory, for threads that attach them. */
export function shareGroup({ modes, tiers }: Omit<CompiledGroup, 'expressions'>): SharedGroup {
  const share = (image: DatabaseImage | null): SharedArrayBuffer | null => {
    if (image === null || image instanceof SharedArrayBuffer) return image;
    return HsDatabase.deserializeShared(image);
  };
  const shared = tiers.map(({ allowedMask, databases, lines, guarded, guard }) => ({
    allowedMask,
    databases: databases.map(share),
    lines: share(lines),
    guarded: share(guarded),
    guard: share(guard),
  }));
  return { modes, tiers: shared };
}

/** One entry per expression that `expressionsOf` makes, without making them. */
function ownersOf(pattern: ScanPattern): { readonly pattern: ScanPattern }[] {
  const { filter } = pattern;
  if (filter.kind === 'pattern') return [{ pattern }];
  return filter.kind === 'words' ? filter.words.map(() => ({ pattern })) : [];
}

/** Names all that decides the entry's content, but for this file's own ways: `cacheFormat`. */
export function cacheKey(group: ScanGroup): string {
  const hash = createHash('sha256');
  hash.update(`${cacheFormat}\n${platformKey()}\n${narrowMasksOf(group.classes).join()}\n`);
  const parts = chainPartsOf(group.patterns);
  for (const pattern of group.patterns) {
    const { filter, negated, apart } = pattern;
    if (filter.kind !== 'pattern' && filter.kind !== 'words') continue;
    const part = partOf(parts, pattern);
    hash.update(`${filter.kind}|${filter.caseless}|${negated}|${apart === true}|${part}|`);
    const texts = filter.kind === 'pattern' ? [filter.pattern] : filter.words;
    for (const text of texts) hash.update(`${text.length}:`).update(text, 'latin1');
    hash.update('\n');
  }
  return hash.digest('hex');
}

/** Layout: u32 header length, JSON header, databases in order, then SHA-256 over all before it. */
function writeEntry(group: CompiledGroup<Uint8Array>, key: string): Uint8Array {
  const header = Buffer.from(
    JSON.stringify({
      key,
      modes: group.modes.flatMap((mode, id) => (mode === 'exact' ? [] : [[id, mode]])),
      tiers: group.tiers.map((t) => {
        return [t.allowedMask, ...imagesOf(t).map((image) => image?.length ?? -1)];
      }),
    }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  const body = Buffer.concat([
    length,
    header,
    ...group.tiers.flatMap((t) => imagesOf(t).map((image) => image ?? none)),
  ]);
  return Buffer.concat([body, createHash('sha256').update(body).digest()]);
}

/** The databases of a tier in the order in which an entry holds them. */
function imagesOf({ databases, lines, guarded, guard }: CompiledTier<Uint8Array>): Images {
  return [lines, guarded, guard, ...databases];
}

type Images = readonly (Uint8Array | null)[];

function readEntry(
  bytes: Uint8Array,
  expressions: number,
  key: string,
): Omit<CompiledGroup<Uint8Array>, 'expressions'> | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length < 36) return null;
  const body = buffer.subarray(0, -32);
  if (!createHash('sha256').update(body).digest().equals(buffer.subarray(-32))) return null;
  const headerEnd = 4 + body.readUInt32LE(0);
  const header = JSON.parse(body.toString('utf8', 4, headerEnd)) as {
    key?: string;
    modes: [number, ExpressionMode][];
    tiers: [number, number, number, number, ...number[]][];
  };
  // Sound, but of another group: the file was renamed or copied.
  if (header.key !== undefined && header.key !== key) return null;
  const modes = Array.from({ length: expressions }, (): ExpressionMode => 'exact');
  for (const [id, mode] of header.modes) modes[id] = mode;
  let at = headerEnd;
  const take = (size: number): Uint8Array | null => {
    if (size < 0) return null;
    at += size;
    return body.subarray(at - size, at);
  };
  const tiers = header.tiers.map(([allowedMask, ...sizes]): CompiledTier<Uint8Array> => {
    const [lines, guarded, guard, ...databases] = sizes.map(take);
    return { allowedMask, lines: lines!, guarded: guarded!, guard: guard!, databases };
  });
  return { modes, tiers };
}
