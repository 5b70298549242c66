/**
 * What a front thread learns of request bodies: which requests teach an endpoint, and what was
 * counted, from one configuration to the next. Where nothing learns there is nothing to ask.
 */

import { anySegment, looksVariable } from '../../../base/endpoint-tree.ts';
import { learningLimits } from '../../base/learning-limits.ts';
import type { ApiLearning, LearningDelta, LearningEndpoint } from '../../contract/api-learning.ts';
import type { SiteConfig } from '../../contract/site.ts';
import type { RequestView } from '../../guard/request-view.ts';
import { PathMatcher } from '../path-matcher.ts';
import { pathReadings } from '../request-path.ts';
import { FieldCounts, type FieldRoom } from './field-counts.ts';
import { gapOfHead, LearningRun, type LookBudget } from './learning-run.ts';

/** Where a path leads: an endpoint that learns, or another one that is known. */
interface Target {
  /** Null for another one. */
  readonly counts: FieldCounts | null;
  readonly endpoint: LearningEndpoint | null;
}

/** The endpoints of one site that learn. */
export class SiteLearning {
  private readonly hosts = new Map<string, PathMatcher<Target>>();
  private readonly budget: LookBudget;

  constructor(
    { endpoints, others }: ApiLearning,
    countsOf: (endpoint: LearningEndpoint) => FieldCounts,
    budget: LookBudget,
  ) {
    this.budget = budget;
    for (const endpoint of endpoints) {
      this.add(endpoint, { counts: countsOf(endpoint), endpoint });
    }
    for (const other of others) this.add(other, { counts: null, endpoint: null });
  }

  /** Takes up a request; null where it teaches nothing to anyone. */
  begin(view: RequestView, hasBody: boolean): LearningRun | null {
    if (view.trial) return null;
    const matcher = this.hosts.get(view.host);
    if (matcher === undefined) return null;
    const found = new Set<FieldCounts | null>();
    for (const { segments, usual } of pathReadings(view.path)) {
      if (usual) found.add(countsAt(matcher, view.method, segments));
    }
    const [counts = null] = [...found].filter((one) => one !== null);
    if (counts === null) return null;
    const gap = found.size > 1 ? 'ambiguous_path' : gapOfHead(view, hasBody);
    return new LearningRun(counts, this.budget, gap);
  }

  private add(place: Pick<LearningEndpoint, 'method' | 'host' | 'path'>, target: Target): void {
    let matcher = this.hosts.get(place.host);
    if (matcher === undefined) this.hosts.set(place.host, (matcher = new PathMatcher()));
    matcher.add(place.method, place.path, target);
  }
}

/** What one thread learns; see the header. */
export class Learner {
  private readonly room: FieldRoom = { left: learningLimits.fieldsPerThread };
  private readonly budget: LookBudget = { bodies: 0, bytes: 0 };
  private counts = new Map<string, FieldCounts>();

  constructor() {
    this.refill();
  }

  /** Fields that have a place, of all endpoints. */
  get size(): number {
    return learningLimits.fieldsPerThread - this.room.left;
  }

  /** What learns in a new configuration, by site; what was counted stays with its generation. */
  prepare(sites: readonly SiteConfig[]): ReadonlyMap<string, SiteLearning> {
    const bySite = new Map<string, SiteLearning>();
    const next = new Map<string, FieldCounts>();
    for (const { id, learning } of sites) {
      if (learning === undefined) continue;
      const countsOf = (endpoint: LearningEndpoint): FieldCounts => {
        const key = [id, endpoint.assetId, endpoint.generation].join(' ');
        const counts = this.counts.get(key) ?? new FieldCounts(id, placeOf(endpoint), this.room);
        next.set(key, counts);
        return counts;
      };
      bySite.set(id, new SiteLearning(learning, countsOf, this.budget));
    }
    for (const [key, counts] of this.counts) if (!next.has(key)) counts.close();
    this.counts = next;
    return bySite;
  }

  /** What was learned since the last call, and the next interval begins. */
  drain(): LearningDelta[] {
    this.refill();
    return [...this.counts.values()].flatMap((one) => one.drain() ?? []);
  }

  private refill(): void {
    this.budget.bodies = learningLimits.bodiesPerInterval;
    this.budget.bytes = learningLimits.bytesPerInterval;
  }
}

function placeOf({ assetId, generation }: LearningEndpoint) {
  return { assetId, generation };
}

/** Null where the path is another endpoint's. */
function countsAt(
  matcher: PathMatcher<Target>,
  method: string,
  segments: readonly string[],
): FieldCounts | null {
  const match = matcher.find(method, segments);
  if (match === null) return null;
  const { counts, endpoint } = match.operation;
  if (counts === null || endpoint === null) return null;
  // Beside a parameter that traffic showed, names are endpoints of their own.
  const strange =
    endpoint.observed &&
    parametersOf(endpoint).some(
      (name, at) => !name.startsWith(anyName) && !looksVariable(match.values[at] ?? ''),
    );
  return strange ? null : counts;
}

/** `any` of `{any}`: a place where every name is one parameter. */
const anyName = anySegment.slice(1, -1);

function parametersOf({ path }: LearningEndpoint): string[] {
  return path.flat().flatMap((part) => ('parameter' in part ? [part.parameter] : []));
}
