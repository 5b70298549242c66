/** The proof of list contents: edits agree with a plain sorted map, look-ups with a scan. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { containsKey, maskKey, parseAddress, parseNetwork } from '../../../base/ip-address.ts';
import {
  allEntries,
  buildContent,
  chunkEntriesMax,
  editContent,
  emptyContent,
  entriesHolding,
  nextExpiry,
  type ContentChange,
  type IpEntry,
  type IpListChunk,
  type IpListContent,
} from './ip-list-content.ts';

/** Chunks by id, as a store keeps them. */
class Chunks {
  private readonly kept = new Map<string, IpListChunk>();
  private next = 0;
  readonly makeId = (): string => `c${this.next++}`;
  readonly read = (id: string): IpListChunk | undefined => this.kept.get(id);

  take({ content, added, removed }: ContentChange): IpListContent {
    for (const chunk of added) this.kept.set(chunk.id, chunk);
    for (const id of removed) if (!this.kept.delete(id)) throw new Error('removed twice');
    const named = new Set(content.chunks.map(({ id }) => id));
    const left = [...this.kept.keys()].filter((id) => !named.has(id));
    if (left.length > 0 || named.size !== this.kept.size) throw new Error('chunks are left over');
    return content;
  }
}

const key = (text: string): string => parseNetwork(text) ?? '';
const many = (count: number): IpEntry[] =>
  Array.from({ length: count }, (_, at) => ({
    key: `4${(at * 16).toString(16).padStart(8, '0')}20`,
  }));

test('edits agree with a sorted map, whatever their order', () => {
  const anyKey = fc.oneof(
    fc.nat(40).map((at) => key(`10.0.0.${at}`)),
    fc.nat(20).map((at) => key(`2001:db8::${at.toString(16)}`)),
  );
  const edit = fc.record({ set: fc.array(anyKey), remove: fc.array(anyKey), note: fc.string() });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 6 }), (edits) => {
      const chunks = new Chunks();
      const expected = new Map<string, IpEntry>();
      let content = emptyContent('list');
      for (const { set, remove, note } of edits) {
        const fresh = new Map(set.map((one) => [one, { key: one, note }]));
        const gone = new Set(remove.filter((one) => !fresh.has(one)));
        content = chunks.take(editContent(content, chunks.read, fresh, gone, chunks.makeId));
        for (const one of gone) expected.delete(one);
        for (const [one, entry] of fresh) expected.set(one, entry);
        const sorted = [...expected.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
        expect([...allEntries(content, chunks.read)]).toEqual(sorted);
        const ipv4 = sorted.filter((entry) => entry.key.startsWith('4')).length;
        expect([content.ipv4Count, content.ipv6Count]).toEqual([ipv4, sorted.length - ipv4]);
        const anew = buildContent('list', sorted, chunks.makeId).content;
        expect(content.prefixes).toEqual(anew.prefixes);
      }
    }),
  );
});

test('a large list is split, and an edit touches one chunk and keeps it from crumbling', () => {
  const chunks = new Chunks();
  let content = chunks.take(buildContent('list', many(10_000), chunks.makeId));
  expect(content.chunks).toHaveLength(Math.ceil(10_000 / chunkEntriesMax));
  for (let at = 0; at < 40; at++) {
    const one = { key: `4${(at * 16 + 1).toString(16).padStart(8, '0')}20` };
    const set = new Map([[one.key, one]]);
    const change = editContent(content, chunks.read, set, new Set(), chunks.makeId);
    expect(change.removed).toHaveLength(1);
    content = chunks.take(change);
  }
  expect(content.ipv4Count).toBe(10_040);
  expect(content.chunks.length).toBeLessThan(8);
});

test('look-ups find every network around an address, as a scan does', () => {
  const network = fc
    .tuple(fc.ipV4(), fc.nat(32))
    .map(([text, prefix]) => maskKey(parseAddress(text) ?? '', prefix));
  fc.assert(
    fc.property(fc.uniqueArray(network, { maxLength: 30 }), fc.ipV4(), (networks, text) => {
      const chunks = new Chunks();
      const entries = networks.sort().map((one) => ({ key: one }));
      const content = chunks.take(buildContent('list', entries, chunks.makeId));
      for (const wanted of [parseAddress(text) ?? '', networks[0] ?? '400000000' + '20']) {
        const found = entriesHolding(content, chunks.read, wanted).map((entry) => entry.key);
        const scanned = networks.filter((one) => containsKey(one, wanted));
        expect(found.sort()).toEqual(scanned.sort());
      }
    }),
  );
});

test('the identity follows the content, and the first expiry is known', () => {
  const chunks = new Chunks();
  const entries = many(3000);
  const plain = buildContent('list', entries, chunks.makeId).content;
  expect(buildContent('other', entries, chunks.makeId).content.etag).toBe(plain.etag);
  const noted = entries.map((entry, at) => (at === 7 ? { ...entry, note: 'x' } : entry));
  expect(buildContent('list', noted, chunks.makeId).content.etag).not.toBe(plain.etag);
  const ends = ['2030-01-01T00:00:00.000Z', '2029-01-01T00:00:00.000Z'];
  const timed = entries.map((entry, at) =>
    at % 2000 === 5 ? { ...entry, expiresAt: ends[at < 2000 ? 0 : 1]! } : entry,
  );
  expect(nextExpiry(buildContent('list', timed, chunks.makeId).content)).toBe(ends[1]);
  expect(nextExpiry(plain)).toBe('');
});
