/**
 * The present configuration: puts its pieces together, signs their index and hands it out when the
 * desired state changes. Changes that come together become one publication. Never waits for nodes.
 */

import { create, fromBinary } from '@bufbuild/protobuf';
import {
  RuntimeBundleSchema,
  type RuntimeBundle,
  type RuntimePart,
  type SignedRuntimeBundle,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type { Clock } from '../../base/clock.ts';
import { toAppError } from '../../base/errors.ts';
import { publishLimits } from '../limits/store-limits.ts';
import type { Logger } from '../../base/log.ts';
import { runAtOnce, runInSlices } from '../../base/steps.ts';
import { heldPolicies, keys, type KeyRecord } from '../store/collections.ts';
import type { ReadStore, Store } from '../store/store.ts';
import { apiCheckKind } from './parts/api-check-parts.ts';
import { bundleFormatVersion } from './build-bundle.ts';
import { renewChallengeKeys } from './parts/challenge-key-parts.ts';
import {
  forgetSettled,
  hasNewGood,
  heldNote,
  noteGood,
  noteRefused,
  settleParts,
  type HeldPolicy,
  type RefusedPolicy,
  type SettledParts,
} from './held-policies.ts';
import { PartCache, type BuiltPart } from './parts/part-cache.ts';
import { partKinds } from './parts/part-kinds.ts';
import { keepPublication, latestPublication, publishedIndex } from './publication-log.ts';
import { readServedSites, viewOf } from './parts/served-sites.ts';
import {
  generateKeyPem,
  readSigningKey,
  signBundle,
  signBytes,
  type SigningKey,
} from './signing.ts';

export { toBundleUpstream } from './build-bundle.ts';

/** A configuration that nodes are to serve. */
export interface Publication {
  readonly revision: string;
  /** The index: names every piece by its hash. */
  readonly signed: SignedRuntimeBundle;
  /** Sites that it serves. */
  readonly siteIds: readonly string[];
  /** Policies that it does not hold in their newest form. */
  readonly held: readonly HeldPolicy[];
}

/** Hands out configurations. */
export interface Publisher {
  readonly publicKey: Uint8Array;
  /** An Ed25519 signature by the key of bundles. */
  sign(bytes: Uint8Array): Uint8Array;
  current(): Publication | null;
  /** Whether something stored is not published yet, and why it could not be; '' where it could. */
  progress(): { readonly waiting: boolean; readonly error: string };
  /** How often something that is published changed; equal numbers mean that nothing did. */
  changes(): number;
  /** Calls `listener` with every new publication; returns the undo. */
  subscribe(listener: (publication: Publication) => void): () => void;
  /** Hands the current configuration out again; what is held back is tried again first. */
  redeliver(): Promise<void>;
  /** A node serves this configuration: its policies are what they fall back to from now on. */
  accepted(revision: string): Promise<void>;
  /** A node refused this configuration for these policies; they are held back from now on. */
  refused(revision: string, policies: readonly RefusedPolicy[]): Promise<void>;
  /** Content of a piece by hash; undefined when no recent configuration has it. */
  part(sha256: Uint8Array): Uint8Array | undefined;
  /** Publishes now; resolves to what is current then. */
  publish(): Promise<Publication>;
  close(): void;
}

/** Starts the publisher and publishes the present state. */
export async function startPublisher(
  store: Store,
  clock: Clock,
  logger: Logger,
): Promise<Publisher> {
  await renewChallengeKeys(store, clock);
  const publisher = new LivePublisher(store, clock, logger, await signingKey(store, clock));
  await publisher.publish();
  return publisher;
}

const publishedCollections = new Set([
  ...partKinds.flatMap(({ collections }) => collections),
  heldPolicies.name,
]);

class LivePublisher implements Publisher {
  readonly publicKey: Uint8Array;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #key: SigningKey;
  readonly #parts = new PartCache(partKinds);
  readonly #listeners = new Set<(publication: Publication) => void>();
  readonly #undo: () => void;
  readonly #keyTimer: NodeJS.Timeout;
  #current: Publication | null = null;
  /** Pieces of the current publication. */
  #published: readonly BuiltPart[] = [];
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<unknown> = Promise.resolve();
  #lastCostMs = 0;
  #publishing = 0;
  #changes = 0;
  #error = '';

  constructor(store: Store, clock: Clock, logger: Logger, key: SigningKey) {
    this.#store = store;
    this.#clock = clock;
    this.#logger = logger;
    this.#key = key;
    this.publicKey = key.publicKey;
    this.#undo = store.onChange((changed) => this.#note(changed));
    this.#keyTimer = setInterval(() => this.#renewKeys(), publishLimits.challengeKeyLookMs).unref();
  }

  sign(bytes: Uint8Array): Uint8Array {
    return signBytes(bytes, this.#key);
  }

  current(): Publication | null {
    return this.#current;
  }

  progress(): { readonly waiting: boolean; readonly error: string } {
    return { waiting: this.#timer !== null || this.#publishing > 0, error: this.#error };
  }

  changes(): number {
    return this.#changes;
  }

  subscribe(listener: (publication: Publication) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async redeliver(): Promise<void> {
    const before = this.#current;
    if ((before?.held.length ?? 0) > 0) {
      await this.#store.write((tx) => forgetSettled(tx, []));
      await this.publish();
    }
    if (this.#current !== null && this.#current === before) this.#hand(before);
  }

  async accepted(revision: string): Promise<void> {
    const index = this.#indexOf(revision);
    if (index === null || !hasNewGood(this.#store, index)) return;
    await this.#store.write((tx) => noteGood(tx, index, (sha256) => this.part(sha256)));
  }

  async refused(revision: string, refused: readonly RefusedPolicy[]): Promise<void> {
    const index = this.#indexOf(revision);
    if (index === null || refused.length === 0) return;
    const now = new Date(this.#clock.nowMs()).toISOString();
    const count = await this.#store.write((tx) => noteRefused(tx, index, revision, refused, now));
    if (count > 0) this.#logger.warn('policies are held back', { revision, policies: count });
  }

  /** The pieces of a publication; null when it is too long past. */
  #indexOf(revision: string): readonly RuntimePart[] | null {
    const current = this.#current?.revision === revision ? this.#current.signed : undefined;
    const signed = current ?? publishedIndex(this.#store, revision);
    return signed === undefined ? null : fromBinary(RuntimeBundleSchema, signed.bundle).parts;
  }

  part(sha256: Uint8Array): Uint8Array | undefined {
    return this.#parts.content(sha256);
  }

  publish(): Promise<Publication> {
    // What the timer was set for is part of this one.
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#publishing++;
    const next = this.#running.then(() => this.#publishNow());
    this.#running = next.then(
      () => this.#ended(''),
      (error: unknown) => this.#ended(`publishing failed: ${toAppError(error).message}`),
    );
    return next;
  }

  #ended(error: string): void {
    this.#publishing--;
    this.#error = error;
  }

  close(): void {
    this.#undo();
    clearInterval(this.#keyTimer);
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #renewKeys(): void {
    renewChallengeKeys(this.#store, this.#clock).catch((error: unknown) => {
      const reason = toAppError(error).message;
      this.#logger.error('keys of challenges could not be renewed', { reason });
    });
  }

  #note(changed: ReadonlySet<string>): void {
    if (![...changed].some((name) => publishedCollections.has(name))) return;
    this.#changes++;
    // A state that takes long to publish waits longer for further changes.
    const { gatherMs, gatherMaxMs } = publishLimits;
    const waitMs = Math.min(Math.max(gatherMs, 2 * this.#lastCostMs), gatherMaxMs);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.publish().catch((error: unknown) => {
        this.#logger.error('publishing failed', { reason: toAppError(error).message });
      });
    }, waitMs);
  }

  async #publishNow(): Promise<Publication> {
    const startedMs = performance.now();
    const { parts, siteIds } = await this.#build();
    const next = await this.#adopt(settleParts(this.#store, parts), siteIds);
    this.#lastCostMs = performance.now() - startedMs;
    return next;
  }

  /**
   * Pieces of one moment, built in slices. When something changes meanwhile they are built again,
   * at last in one go.
   */
  async #build(): Promise<{ parts: BuiltPart[]; siteIds: string[] }> {
    for (let attempt = 1; ; attempt++) {
      const view = viewOf(this.#store);
      const siteIds = readServedSites(view).map(({ site }) => site.id);
      const steps = this.#parts.refresh(view);
      const last = attempt >= publishLimits.buildAttemptsMax;
      const parts = last ? runAtOnce(steps) : await runInSlices(steps, publishLimits.sliceMs);
      if (last || this.#parts.isFresh(view)) return { parts, siteIds };
    }
  }

  async #adopt(settled: SettledParts, siteIds: readonly string[]): Promise<Publication> {
    const { parts, held } = settled;
    const same =
      this.#published.length === parts.length &&
      parts.every(this.#isPublished) &&
      heldNote(held) === heldNote(this.#current?.held ?? []);
    if (this.#current !== null && same) return this.#current;
    const kept = this.#current === null ? keptPublication(this.#store, settled, this.#key) : null;
    const { revision, signed } = kept ?? (await this.#sign(settled));
    this.#current = { revision, signed, siteIds, held };
    this.#published = parts;
    this.#parts.offer(parts);
    this.#logger.info('configuration published', { revision });
    this.#hand(this.#current);
    return this.#current;
  }

  /** A piece that was not built anew is the very same object; one that was may be equal to it. */
  readonly #isPublished = (part: BuiltPart, at: number): boolean => {
    const other = this.#published[at];
    if (part === other) return true;
    if (part.kind !== other?.kind || part.id !== other.id) return false;
    return Buffer.compare(part.sha256, other.sha256) === 0;
  };

  #sign({ parts, held }: SettledParts): Promise<Pick<Publication, 'revision' | 'signed'>> {
    return this.#store.write((tx) => {
      // Another controller of the store may have published the same meanwhile.
      const isOurs = latestPublication(tx)?.revision === this.#current?.revision;
      const theirs = isOurs ? null : keptPublication(tx, { parts, held }, this.#key);
      if (theirs !== null) return theirs;
      const revision = String(tx.next('config-revision'));
      const createdAtMs = this.#clock.nowMs();
      const signed = signBundle(indexOf(revision, createdAtMs, parts, held), this.#key);
      const intents = parts.filter(({ kind }) => kind === apiCheckKind.name).map(({ id }) => id);
      keepPublication(tx, revision, signed, createdAtMs, heldNote(held), intents);
      forgetSettled(tx, held);
      return { revision, signed };
    });
  }

  #hand(publication: Publication): void {
    for (const listener of this.#listeners) listener(publication);
  }
}

function indexOf(
  revision: string,
  createdAtMs: number,
  parts: readonly BuiltPart[],
  held: readonly HeldPolicy[],
): RuntimeBundle {
  return create(RuntimeBundleSchema, {
    formatVersion: bundleFormatVersion,
    id: `config-${revision}`,
    revision: BigInt(revision),
    createdAtMs: BigInt(createdAtMs),
    heldPolicies: unserved(held),
    parts: parts.map(({ kind, id, sha256, content }) => ({
      kind,
      id,
      sha256,
      size: BigInt(content.length),
    })),
  });
}

/** Policies that never compiled: nothing stands in for them. */
function unserved(held: readonly HeldPolicy[]): string[] {
  return held.filter(({ served }) => !served).map(({ id }) => id);
}

/** The latest publication of an earlier run, when it is what would be published now. */
function keptPublication(
  store: ReadStore,
  { parts, held }: SettledParts,
  key: SigningKey,
): Pick<Publication, 'revision' | 'signed'> | null {
  const row = latestPublication(store);
  const signed = row === undefined ? undefined : publishedIndex(store, row.revision);
  if (row === undefined || signed === undefined) return null;
  if (Buffer.compare(signed.publicKey, key.publicKey) !== 0) return null;
  if ((row.heldNote ?? '') !== heldNote(held)) return null;
  return sameParts(signed, parts) ? { revision: row.revision, signed } : null;
}

function sameParts(signed: SignedRuntimeBundle, parts: readonly BuiltPart[]): boolean {
  const index = fromBinary(RuntimeBundleSchema, signed.bundle);
  return (
    index.formatVersion === bundleFormatVersion &&
    index.parts.length === parts.length &&
    index.parts.every((part, at) => {
      const other = parts[at];
      if (part.kind !== other?.kind || part.id !== other.id) return false;
      return Buffer.compare(part.sha256, other.sha256) === 0;
    })
  );
}

async function signingKey(store: Store, clock: Clock): Promise<SigningKey> {
  const found = store.find(keys, 'purpose', 'bundle')[0];
  if (found !== undefined) return readSigningKey(found.privateKeyPem);
  const record: KeyRecord = {
    id: `bundle-${clock.nowMs()}`,
    purpose: 'bundle',
    privateKeyPem: generateKeyPem(),
    createdAt: new Date(clock.nowMs()).toISOString(),
  };
  await store.write((tx) => tx.put(keys, record));
  return readSigningKey(record.privateKeyPem);
}
