/**
 * Asks the guards of a site in their order: the first verdict that answers ends the walk, `monitor`
 * is recorded, `bypass` skips what it names. Never answers a request.
 */

import type {
  GuardAction,
  GuardName,
  GuardNote,
  GuardSkip,
  GuardTraceEntry,
  GuardVerdict,
} from '../contract/guard.ts';
import type { SiteConfig } from '../contract/site.ts';
import type { Guard, GuardKind, GuardServices } from './guard.ts';
import { guardKinds } from './list.ts';
import type { RequestView } from './request-view.ts';

/** What a walk came to. */
export interface GuardOutcome {
  /** Ends the request; null when it may continue. */
  readonly verdict: GuardVerdict | null;
  /** Every verdict, in order. */
  readonly notes: readonly GuardNote[];
  /** True when a bypass skips the inspection by rules. */
  readonly skipsWaf: boolean;
  /** True when a bypass skips the checks of API documents. */
  readonly skipsSchema: boolean;
}

/** No guard had anything to say; shared, because nearly every walk ends so. */
export const unguarded: GuardOutcome = {
  verdict: null,
  notes: [],
  skipsWaf: false,
  skipsSchema: false,
};

/** Who decides what a failed guard leads to. */
export interface GuardFaults {
  /** True where the guards after it are still asked, false where the request ends. */
  guardFailed(name: GuardName, thrown: unknown): boolean;
}

const continues: Readonly<Record<GuardAction, boolean>> = {
  deny: false,
  challenge: false,
  redirect: false,
  drop: false,
  bypass: true,
  monitor: true,
};

/** The guards of one site, in order. */
export class GuardChain {
  private readonly guards: readonly Guard[];

  constructor(guards: readonly Guard[]) {
    this.guards = guards;
  }

  /**
   * Asks the guards; null where one failed and the request ends. Allocates nothing when none has
   * anything to say. `trace` gets every step.
   */
  walk(
    view: RequestView,
    trace: GuardTraceEntry[] | null,
    faults: GuardFaults,
  ): GuardOutcome | null {
    let notes: GuardNote[] | null = null;
    let skips: readonly GuardSkip[] = [];
    for (const guard of this.guards) {
      const skipped = skips.length > 0 && skips.includes(guard.name);
      let verdict: GuardVerdict | null = null;
      try {
        verdict = skipped ? null : guard.decide(view);
      } catch (thrown) {
        if (!faults.guardFailed(guard.name, thrown)) return null;
      }
      trace?.push({ guard: guard.name, saw: guard.describe(view), verdict, skipped });
      if (verdict === null) continue;
      notes ??= [];
      for (const one of verdict.earlier ?? []) notes.push(this.noteOf(one));
      notes.push(this.noteOf(verdict));
      if (!continues[verdict.action]) {
        return { verdict, notes, ...skippedBy(verdict.later === undefined ? [] : skips) };
      }
      if (verdict.skips !== undefined) skips = [...skips, ...verdict.skips];
    }
    if (notes === null) return unguarded;
    return { verdict: null, notes, ...skippedBy(skips) };
  }

  /** A note names only what there was to skip. */
  private noteOf({ guard, action, reason, ruleId, detail, skips = [] }: GuardVerdict): GuardNote {
    const skipped = skips.filter((skip) => skip === 'waf' || this.has(skip));
    return { guard, action, reason, ruleId, detail, skipped };
  }

  private has(name: GuardName): boolean {
    return this.guards.some((guard) => guard.name === name);
  }
}

function skippedBy(skips: readonly GuardSkip[]): Pick<GuardOutcome, 'skipsWaf' | 'skipsSchema'> {
  return { skipsWaf: skips.includes('waf'), skipsSchema: skips.includes('schema') };
}

/** The guards that a site has; null for none, so that its requests cost one comparison. */
export function compileGuards(
  site: SiteConfig,
  services: GuardServices,
  kinds: readonly GuardKind[] = guardKinds,
): GuardChain | null {
  const guards: Guard[] = [];
  for (const kind of kinds) {
    const guard = kind.compile(site, services);
    if (guard !== null) guards.push(guard);
  }
  return guards.length === 0 ? null : new GuardChain(guards);
}
