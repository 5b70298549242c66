/**
 * The policy engines of one thread: one per distinct policy text, shared by all sites and
 * generations that use it, freed when the last generation that does is gone.
 */

import { AppError, policyAbsent } from '../../base/errors.ts';
import type { Inspector } from '../contract/inspection.ts';
import type { SharedImages } from '../contract/shared-images.ts';
import type { KeyedPolicy } from '../contract/policy.ts';
import type { Pool } from '../pool/dispatch.ts';
import type { PolicyEngine } from '../rules/run/policy-engine.ts';

interface PolicyInUse {
  readonly policy: KeyedPolicy;
  /** Null until it is built. */
  engine: PolicyEngine | null;
  /** Built for its first request, perhaps with databases of its own; built again by `holdAll`. */
  provisional: boolean;
  uses: number;
}

/** How one thread builds policies: at once, or in slices while it serves. */
export interface PolicyBuilders {
  readonly build: (policy: KeyedPolicy) => PolicyEngine;
  readonly buildInSlices: (policy: KeyedPolicy) => Promise<PolicyEngine>;
  /** What builds have attached to in shared memory since the last call. */
  takeAttached(): SharedImages;
}

/** A policy on its way to a pool thread, with what it may attach to. */
export interface PooledPolicy {
  readonly policy: KeyedPolicy;
  readonly shared: SharedImages;
}

/** Policy engines of one thread by key, counted by use. */
export class PolicyRegistry {
  private readonly inUse = new Map<string, PolicyInUse>();
  private readonly builders: PolicyBuilders;
  private readonly pool: Pool | null;

  constructor(builders: PolicyBuilders, pool: Pool | null) {
    this.builders = builders;
    this.pool = pool;
  }

  /**
   * Takes the policies for one generation; all of them or, when one does not build, none. One call
   * at a time. Shape: the keys for `releaseAll`. Errors: what building throws. Cost: building those
   * that are new.
   */
  async holdAll(policies: readonly KeyedPolicy[]): Promise<string[]> {
    const taken: string[] = [];
    try {
      for (const policy of policies) {
        await this.hold(policy);
        taken.push(policy.key);
      }
      return taken;
    } catch (thrown) {
      this.releaseAll(taken);
      throw thrown;
    }
  }

  /** Takes the policies for one generation without building any: who asks for one does. */
  holdUnbuilt(policies: readonly KeyedPolicy[]): string[] {
    return policies.map((policy) => {
      const { key } = policy;
      const known = this.inUse.has(key);
      this.use(policy);
      if (!known) this.pool?.load(key, { policy, shared: new Map() } satisfies PooledPolicy, false);
      return key;
    });
  }

  /**
   * The engine of a policy that is in use. Cost: building it, where it was taken unbuilt; `holdAll`
   * puts one with shared databases in its place.
   */
  engine(key: string): PolicyEngine {
    const used = this.inUse.get(key);
    if (!used) {
      throw new AppError(policyAbsent, 'a site names a policy that the bundle does not hold', {
        source: 'config',
      });
    }
    if (used.engine === null) {
      used.engine = this.builders.build(used.policy);
      used.provisional = true;
    }
    return used.engine;
  }

  /** Gives up one use of each; engines without uses are freed once their requests have ended. */
  releaseAll(keys: readonly string[]): void {
    for (const key of keys) {
      const used = this.inUse.get(key);
      if (!used || --used.uses > 0) continue;
      this.inUse.delete(key);
      used.engine?.retire();
      this.pool?.retire(key);
    }
  }

  get size(): number {
    return this.inUse.size;
  }

  private async hold(policy: KeyedPolicy): Promise<void> {
    const { key } = policy;
    const known = this.inUse.get(key);
    if (known?.engine && !known.provisional) {
      known.uses++;
      return;
    }
    this.builders.takeAttached();
    const built = await this.builders.buildInSlices(policy);
    const shared = this.builders.takeAttached();
    const used = this.use(policy);
    // Retires what a request had built: it does not use the databases that all threads share.
    used.engine?.retire();
    used.engine = built;
    used.provisional = false;
    this.pool?.load(key, { policy, shared } satisfies PooledPolicy, true);
  }

  private use(policy: KeyedPolicy): PolicyInUse {
    const known = this.inUse.get(policy.key);
    if (known !== undefined) {
      known.uses++;
      return known;
    }
    const used: PolicyInUse = { policy, engine: null, provisional: false, uses: 1 };
    this.inUse.set(policy.key, used);
    return used;
  }
}

/** Opens sessions on an engine that is built for its first request. */
export function lazyInspector(registry: PolicyRegistry, key: string, records: boolean): Inspector {
  return { open: (request) => registry.engine(key).open(request, records) };
}

/** Sessions that only record: the same engine with its disruptive outcomes switched off. */
export function recordOnly(engine: PolicyEngine): Inspector {
  return { open: (request) => engine.open(request, true) };
}
