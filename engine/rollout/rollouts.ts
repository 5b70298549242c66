/**
 * Carries configurations out, one after another: plans their policies, has the threads serve them,
 * and stops for a later one. The one place that knows which configuration is the latest. Never
 * opens a socket, a file or a thread; `RolloutPorts` does.
 */

import { AppError, supersededCode, toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { PolicyFault } from '../../base/policy-faults.ts';
import type { SharedImages } from '../contract/shared-images.ts';
import { rulesetFolder, type KeyedPolicy } from '../contract/policy.ts';
import { noConfiguration, noRoutes, type RoutesConfig } from '../contract/site.ts';
import { faultOf, PolicyError } from '../policies/policy-build.ts';
import { interimRoutes, waitingSites, type ReadyPolicies } from './interim-routes.ts';
import type { PlanOutcome } from './planner.ts';
import { nextState, type RolloutEvent, type RolloutState } from './states.ts';

/** A configuration as a rollout needs it. */
export interface Candidate {
  readonly revision: string;
  /** SHA-256 of the bundle, hex. */
  readonly sha256: string;
  /** Routes with none of their policies built. */
  readonly routes: RoutesConfig;
  /** Puts the files beside the routes in place. Errors: AppError; nothing changed then. */
  readonly placeFiles: () => void;
}

/** What serves right now. */
export interface Serving {
  readonly revision: string;
  readonly sha256: string;
}

/** A configuration that serves in part. */
export interface Interim extends Serving {
  /** Sites that are not served yet as it says. */
  readonly waitingSiteIds: readonly string[];
}

/** What carrying out a rollout needs from other rooms. */
export interface RolloutPorts {
  /** Links a policy and compiles its databases. Errors: `planner_failed`. */
  plan(policy: KeyedPolicy): Promise<PlanOutcome>;
  /** Names the databases that threads hold. */
  useDatabases(groups: SharedImages): void;
  /** Has all threads serve the routes. */
  apply(routes: RoutesConfig): Promise<void>;
  /** Offers threads databases for policies that they build on first use. */
  offerDatabases(groups: SharedImages): void;
  /** The routes that serve changed. */
  onRoutes(routes: RoutesConfig): void;
  /** A configuration serves, but for sites whose policies still compile. */
  onInterim(interim: Interim): void;
  /** Whether all databases of the configuration with this SHA-256 lie in the cache. */
  isPlanned(sha256: string): boolean;
  keepPlanned(sha256: string): void;
  /** Resolves after the time in which a policy should be ready. */
  interimDelay(): Promise<void>;
  readonly log: Logger;
}

/** One configuration on its way. */
class Rollout {
  state: RolloutState = 'wanted';
  /** Rejects when a later configuration arrived. */
  readonly superseded: Promise<never>;
  private supersede!: (error: AppError) => void;

  constructor() {
    this.superseded = new Promise((_resolve, reject) => (this.supersede = reject));
    // Most rollouts are superseded after they ended, when nobody waits for it.
    this.superseded.catch(() => undefined);
  }

  advance(event: RolloutEvent): void {
    this.state = nextState(this.state, event);
    if (event === 'newer') this.supersede(superseded());
  }

  /** Errors: superseded. */
  check(): void {
    if (this.state === 'superseded') throw superseded();
  }
}

/** The rollouts of one engine. */
export class Rollouts {
  private readonly ports: RolloutPorts;
  private latest = new Rollout();
  private current: Candidate | null = null;
  /** What threads serve, interim routes included. */
  private routes: RoutesConfig = noRoutes;
  /** One after another; a later one waits until the one before has ended. */
  private turn: Promise<unknown> = Promise.resolve();
  /** Keys of policies that compile, and databases made for them, while policies build lazily. */
  private readonly validated = new Set<string>();
  private prepared: SharedImages = new Map();
  private closed = false;

  constructor(ports: RolloutPorts) {
    this.ports = ports;
  }

  /** What serves; revision `0` and no hash before anything does. */
  get serving(): Serving {
    const { revision, sha256 } = this.current ?? { revision: noConfiguration, sha256: '' };
    return { revision, sha256 };
  }

  /** Whether threads serve a policy of this id, in whatever version. */
  serves(policyId: string): boolean {
    return this.routes.inspection.policies.some(({ source }) => source.id === policyId);
  }

  /** State of the latest rollout. */
  get state(): RolloutState {
    return this.latest.state;
  }

  /** Nothing is logged or begun any more. */
  close(): void {
    this.closed = true;
  }

  /**
   * Rolls out a later configuration; supersedes the one before. `obtain` fetches it, `keep`
   * stores what serves. Resolves when all threads serve it. Errors: those of `obtain` and `keep`,
   * PolicyError, superseded.
   */
  rollOut(obtain: () => Promise<Candidate>, keep: () => Promise<void>): Promise<void> {
    const rollout = this.begin();
    const done = this.inTurn(() => this.carryOut(rollout, obtain, keep));
    done.catch(() => this.resume(rollout));
    return done;
  }

  /**
   * Prepares what an earlier run served; answers the routes that threads start with. With
   * `waitForPolicies` they are built first. Errors: PolicyError, those of `placeFiles`.
   */
  async prepareFirst(first: Candidate, waitForPolicies: boolean): Promise<RoutesConfig> {
    const rollout = this.begin();
    first.placeFiles();
    if (waitForPolicies) this.routes = await this.plan(rollout, first);
    else if (this.ports.isPlanned(first.sha256)) this.routes = this.lazy(first.routes);
    else this.routes = interimRoutes(first.routes, noRoutes, new Map());
    return this.routes;
  }

  /** Threads serve what `prepareFirst` answered: finishes the rest in the background. */
  firstServed(first: Candidate, complete: boolean): void {
    const rollout = this.latest;
    if (complete || this.routes.inspection.lazy) this.nowServing(rollout, first, this.routes);
    if (complete) return rollout.advance('built');
    if (this.routes.inspection.lazy) {
      this.validate(first.routes);
      return void this.settle(rollout, first);
    }
    this.inTurn(() => this.serveBuilt(rollout, first)).catch((thrown: unknown) => {
      this.report(rollout, thrown, 'the kept bundle cannot be served');
    });
  }

  private inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.turn.then(work);
    this.turn = done.catch(() => undefined);
    return done;
  }

  private begin(): Rollout {
    this.latest.advance('newer');
    this.latest = new Rollout();
    return this.latest;
  }

  private async carryOut(
    rollout: Rollout,
    obtain: () => Promise<Candidate>,
    keep: () => Promise<void>,
  ): Promise<void> {
    try {
      rollout.check();
      const candidate = await obtain().catch((error: unknown) => {
        // Control forgets the pieces of what it replaced.
        rollout.check();
        throw error;
      });
      rollout.check();
      if (this.routes.inspection.lazy) await this.serveLazily(rollout, candidate);
      else await this.serveBuilt(rollout, candidate);
    } catch (thrown) {
      rollout.advance('fault');
      throw thrown;
    }
    await keep();
  }

  /** Plans all policies, then serves. */
  private async serveBuilt(rollout: Rollout, candidate: Candidate): Promise<void> {
    const routes = await this.plan(rollout, candidate);
    candidate.placeFiles();
    await this.applyBuilt(rollout, candidate, routes);
  }

  private async applyBuilt(
    rollout: Rollout,
    candidate: Candidate,
    routes: RoutesConfig,
  ): Promise<void> {
    rollout.check();
    await this.ports.apply(routes);
    this.nowServing(rollout, candidate, routes);
    if (rollout.state === 'serving') rollout.advance('built');
    this.ports.keepPlanned(candidate.sha256);
  }

  /** While policies still build on first use: waits for those that are new, not for all. */
  private async serveLazily(rollout: Rollout, candidate: Candidate): Promise<void> {
    for (const policy of candidate.routes.inspection.policies) {
      if (!this.validated.has(policy.key)) await this.prepare(rollout, policy);
    }
    candidate.placeFiles();
    const routes = this.lazy(candidate.routes);
    await this.ports.apply(routes);
    this.nowServing(rollout, candidate, routes);
    this.validate(candidate.routes);
    // Each policy was planned just now, or with the configuration that was marked before.
    this.ports.keepPlanned(candidate.sha256);
    void this.settle(rollout, candidate);
  }

  /** Builds every policy in the background, after a start that built none. */
  private async settle(rollout: Rollout, candidate: Candidate): Promise<void> {
    try {
      for (const policy of candidate.routes.inspection.policies) {
        await this.prepare(rollout, policy);
      }
      const routes = await this.plan(rollout, candidate);
      await this.inTurn(() => this.applyBuilt(rollout, candidate, routes));
      this.validated.clear();
      this.prepared = new Map();
    } catch (thrown) {
      this.report(rollout, thrown, 'the policies of the kept bundle could not all be built');
    }
  }

  /** A failed rollout leaves what served before, whose policies may not all be built. */
  private resume(failed: Rollout): void {
    const { current } = this;
    if (this.closed || failed !== this.latest || current === null) return;
    if (!this.routes.inspection.lazy) return;
    const rollout = this.begin();
    rollout.advance('served');
    void this.settle(rollout, current);
  }

  /**
   * Routes with every policy planned and its databases ready. What is ready serves while the rest
   * takes long. Errors: PolicyError with all policies that do not compile; superseded.
   */
  private async plan(rollout: Rollout, candidate: Candidate): Promise<RoutesConfig> {
    const { routes } = candidate;
    rollout.check();
    rollout.advance('plan');
    const ready = new Map<string, SharedImages>();
    const made = new Map(this.routes.inspection.shared);
    const faults: PolicyFault[] = [];
    for (const policy of this.quickestFirst(routes.inspection.policies)) {
      const outcome = await this.planOne(rollout, policy, candidate, ready);
      this.logDiagnostics(outcome);
      if (outcome.ok) {
        ready.set(policy.key, outcome.shared);
        for (const [key, image] of outcome.shared) made.set(key, image);
        // The next policy shares these databases instead of unpacking copies of its own.
        this.ports.useDatabases(made);
      } else faults.push(faultOf(policy.source, outcome.diagnostics));
    }
    // All that are wrong at once: control holds back each of them.
    if (faults.length > 0) throw new PolicyError(faults);
    const shared = new Map([...ready.values()].flatMap((groups) => [...groups]));
    return { ...routes, inspection: { ...routes.inspection, lazy: false, shared } };
  }

  private async planOne(
    rollout: Rollout,
    policy: KeyedPolicy,
    candidate: Candidate,
    ready: ReadyPolicies,
  ): Promise<PlanOutcome> {
    rollout.check();
    const planned = this.ports.plan(policy);
    planned.catch(() => undefined);
    const late = this.ports.interimDelay().then(() => null);
    const first = await Promise.race([planned, rollout.superseded, late]);
    if (first !== null) return first;
    await this.serveInterim(rollout, policy, candidate, ready);
    return Promise.race([planned, rollout.superseded]);
  }

  /** Lazy routes serve every policy already. */
  private async serveInterim(
    rollout: Rollout,
    { source: { name } }: KeyedPolicy,
    { routes, revision, sha256 }: Candidate,
    ready: ReadyPolicies,
  ): Promise<void> {
    rollout.check();
    if (this.routes.inspection.lazy) return;
    rollout.advance('late');
    const interim = interimRoutes(routes, this.routes, ready);
    const text = `Compiling policy ${name}; its sites keep the previous rules meanwhile.`;
    this.ports.log.info(text, { policy: name });
    const stillOff = interim.sites.filter((site, at) => site !== routes.sites[at]).length;
    if (stillOff > 0) {
      const off =
        'Sites whose inspection was off are not inspected until their policy is compiled.';
      this.ports.log.warn(off, { sites: stillOff });
    }
    this.routes = interim;
    await this.ports.apply(interim);
    this.ports.onRoutes(interim);
    this.ports.onInterim({ revision, sha256, waitingSiteIds: waitingSites(routes, interim) });
  }

  /** Those that serve already, then new versions of those that do: most of their databases are. */
  private quickestFirst(policies: readonly KeyedPolicy[]): readonly KeyedPolicy[] {
    const served = this.routes.inspection.policies;
    const keys = new Set(served.map(({ key }) => key));
    const ids = new Set(served.map(({ source }) => source.id));
    const rank = ({ key, source }: KeyedPolicy): number =>
      keys.has(key) ? 0 : ids.has(source.id) ? 1 : 2;
    return policies.toSorted((left, right) => rank(left) - rank(right));
  }

  /** Errors: PolicyError, planner_failed, superseded. */
  private async prepare(rollout: Rollout, policy: KeyedPolicy): Promise<void> {
    rollout.check();
    const outcome = await Promise.race([this.ports.plan(policy), rollout.superseded]);
    if (!outcome.ok) throw new PolicyError([faultOf(policy.source, outcome.diagnostics)]);
    this.validated.add(policy.key);
    this.prepared = new Map([...this.prepared, ...outcome.shared]);
    this.ports.useDatabases(this.prepared);
    this.ports.offerDatabases(this.prepared);
  }

  private lazy(routes: RoutesConfig): RoutesConfig {
    const inspection = { ...routes.inspection, lazy: true, shared: this.prepared };
    return { ...routes, inspection };
  }

  private validate({ inspection }: RoutesConfig): void {
    for (const { key } of inspection.policies) this.validated.add(key);
  }

  private nowServing(rollout: Rollout, candidate: Candidate, routes: RoutesConfig): void {
    if (rollout.state !== 'serving' && rollout.state !== 'superseded') rollout.advance('served');
    this.current = candidate;
    this.routes = routes;
    this.ports.useDatabases(routes.inspection.shared);
    this.ports.onRoutes(routes);
  }

  private logDiagnostics({ diagnostics }: PlanOutcome): void {
    for (const { severity, message, span } of diagnostics) {
      const place = `${span.file}:${span.line}:${span.column}`;
      // Nobody here can change a rule set that was published by others.
      const others = span.file.startsWith(rulesetFolder);
      const level = severity === 'error' ? 'error' : others ? 'debug' : 'warn';
      this.ports.log[level](message, { place });
    }
  }

  private report(rollout: Rollout, thrown: unknown, text: string): void {
    const { code, message } = toAppError(thrown);
    rollout.advance('fault');
    if (this.closed || code === supersededCode) return;
    this.ports.log.error(text, { reason: message });
  }
}

function superseded(): AppError {
  return new AppError(supersededCode, 'a later configuration came before this one was applied', {
    source: 'config',
  });
}
