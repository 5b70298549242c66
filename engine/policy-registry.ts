/**
 * Owns the policy engines of one thread: one per distinct policy text, shared by all sites and
 * generations that use it, freed when the last generation that does is gone.
 */

import { AppError } from './base/errors.ts';
import type { Inspector } from './contract/inspection.ts';
import type { PolicySource } from './contract/policy.ts';
import type { Pool } from './pool/dispatch.ts';
import type { PolicyEngine } from './rules/run/policy-engine.ts';
import type { KeyedPolicy } from './inspection-config.ts';

interface Held {
  readonly engine: PolicyEngine;
  uses: number;
}

/** Policy engines of one thread by key, counted by use. */
export class PolicyRegistry {
  private readonly held = new Map<string, Held>();
  private readonly build: (source: PolicySource) => Promise<PolicyEngine>;
  private readonly pool: Pool | null;

  constructor(build: (source: PolicySource) => Promise<PolicyEngine>, pool: Pool | null) {
    this.build = build;
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

  /** The inspector of a policy that is held. */
  engine(key: string): PolicyEngine {
    const held = this.held.get(key);
    if (!held) {
      throw new AppError('policy_missing', 'a site names a policy that the bundle does not hold', {
        source: 'config',
      });
    }
    return held.engine;
  }

  /** Gives up one use of each; engines without uses are freed once their requests have ended. */
  releaseAll(keys: readonly string[]): void {
    for (const key of keys) {
      const held = this.held.get(key);
      if (!held || --held.uses > 0) continue;
      this.held.delete(key);
      held.engine.retire();
      this.pool?.retire(key);
    }
  }

  get size(): number {
    return this.held.size;
  }

  private async hold({ key, source }: KeyedPolicy): Promise<void> {
    const held = this.held.get(key);
    if (held) {
      held.uses++;
      return;
    }
    this.held.set(key, { engine: await this.build(source), uses: 1 });
    this.pool?.load(key, source);
  }
}

/** Sessions that only record: the same engine with its disruptive outcomes switched off. */
export function recordOnly(engine: PolicyEngine): Inspector {
  return { open: (request) => engine.open(request, true) };
}
