/**
 * The exact search for many words at once (Aho-Corasick over typed arrays, ASCII letters
 * without case). Never decides what a word is.
 */

import type { ByteString } from '../../../../base/byte-string.ts';

const rootNode = 0;

/** Maps A-Z to a-z and leaves other bytes. */
const fold = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);

/** Built once for a list of words; memory is about 17 bytes for each distinct prefix. */
export class WordSearch {
  private readonly byte: Uint8Array;
  private readonly firstChild: Int32Array;
  private readonly nextSibling: Int32Array;
  private readonly failure: Int32Array;
  /** The longest word that ends at the node or at one of its suffixes, counted from 1; 0: none. */
  private readonly wordOf: Int32Array;
  private readonly words: readonly ByteString[];
  private readonly rootChild = new Int32Array(256);
  private nodes = 1;

  constructor(words: readonly ByteString[]) {
    const size = 1 + words.reduce((sum, word) => sum + word.length, 0);
    this.byte = new Uint8Array(size);
    this.firstChild = new Int32Array(size);
    this.nextSibling = new Int32Array(size);
    this.failure = new Int32Array(size);
    this.wordOf = new Int32Array(size);
    this.words = words;
    for (let i = 0; i < words.length; i++) this.insert(words[i] ?? '', i + 1);
    this.linkFailures();
  }

  /** The word, as it was given, that ends first in the value, the longest of those; null: none. */
  find(value: ByteString): ByteString | null {
    let node = rootNode;
    for (let i = 0; i < value.length; i++) {
      node = this.step(node, fold[value.charCodeAt(i) & 0xff] ?? 0);
      const word = this.wordOf[node] ?? 0;
      if (word > 0) return this.words[word - 1] ?? null;
    }
    return null;
  }

  private step(from: number, byte: number): number {
    let node = from;
    for (;;) {
      const child = this.child(node, byte);
      if (child !== 0) return child;
      if (node === rootNode) return rootNode;
      node = this.failure[node] ?? rootNode;
    }
  }

  private child(node: number, byte: number): number {
    if (node === rootNode) return this.rootChild[byte] ?? 0;
    let child = this.firstChild[node] ?? 0;
    while (child !== 0 && this.byte[child] !== byte) child = this.nextSibling[child] ?? 0;
    return child;
  }

  private insert(word: ByteString, number: number): void {
    let node = rootNode;
    for (let i = 0; i < word.length; i++) {
      const byte = fold[word.charCodeAt(i) & 0xff] ?? 0;
      node = this.child(node, byte) || this.addChild(node, byte);
    }
    this.wordOf[node] = number;
  }

  private addChild(parent: number, byte: number): number {
    const node = this.nodes++;
    this.byte[node] = byte;
    this.nextSibling[node] = this.firstChild[parent] ?? 0;
    this.firstChild[parent] = node;
    if (parent === rootNode) this.rootChild[byte] = node;
    return node;
  }

  /** Breadth first, so that a node's failure link is complete before its children need it. */
  private linkFailures(): void {
    const queue = new Int32Array(this.nodes);
    let tail = 0;
    for (let head = -1; head < tail; head++) {
      const parent = head < 0 ? rootNode : (queue[head] ?? 0);
      for (let node = this.firstChild[parent] ?? 0; node !== 0;) {
        if (parent !== rootNode) this.linkFailure(parent, node);
        queue[tail++] = node;
        node = this.nextSibling[node] ?? 0;
      }
    }
  }

  private linkFailure(parent: number, node: number): void {
    const target = this.step(this.failure[parent] ?? rootNode, this.byte[node] ?? 0);
    this.failure[node] = target;
    if (this.wordOf[node] === 0) this.wordOf[node] = this.wordOf[target] ?? 0;
  }
}
