/**
 * Finds the body controls of a request. The operations of documents take part, so that a control of
 * a template never reaches a literal path that has none.
 */

import type { ApiChecks } from '../contract/api-checks.ts';
import type { ApiSegment } from '../contract/api-path.ts';
import type { ApiBodyControl } from '../contract/body-control.ts';
import { findWithHead, PathMatcher } from './path-matcher.ts';
import type { PathReading } from './request-path.ts';

/** A body control, and its place in the list of the site. */
export interface FoundControl {
  readonly control: ApiBodyControl;
  readonly index: number;
}

interface Entry {
  readonly found: FoundControl | null;
}

/** The body controls of one site; see the header. */
export class BodyControls {
  private readonly hosts = new Map<string, PathMatcher<Entry>>();

  constructor({ bodyControls, operations }: Pick<ApiChecks, 'bodyControls' | 'operations'>) {
    bodyControls.operations.forEach((control, index) => {
      let matcher = this.hosts.get(control.host);
      if (matcher === undefined) this.hosts.set(control.host, (matcher = new PathMatcher()));
      // The first of a path stays.
      matcher.add(control.method, control.path, { found: { control, index } });
    });
    for (const { host, method, path } of operations) addPlain(this.hosts.get(host), method, path);
  }

  /** Whether a host has any. */
  covers(host: string): boolean {
    return this.hosts.has(host);
  }

  /** The controls of all readings of a path: each of them must be kept to. */
  find(host: string, sentMethod: string, readings: readonly PathReading[]): FoundControl[] {
    const matcher = this.hosts.get(host);
    if (matcher === undefined) return [];
    const controls: FoundControl[] = [];
    for (const { segments } of readings) {
      const match = findWithHead(matcher, sentMethod.toUpperCase(), segments, false);
      const found = match?.operation.found ?? null;
      if (found !== null && !controls.includes(found)) controls.push(found);
    }
    return controls;
  }
}

function addPlain(
  matcher: PathMatcher<Entry> | undefined,
  method: string,
  path: readonly ApiSegment[],
): void {
  matcher?.add(method, path, { found: null });
}
