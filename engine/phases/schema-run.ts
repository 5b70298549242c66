/**
 * The checks of one request against its site's API documents, step by step: the head before the
 * rules, the body after them, the counts at the end. Inactive where no document covers the request.
 */

import type { ProcessorReading } from '../../base/body-family.ts';
import type { GuardTraceEntry, GuardVerdict } from '../contract/guard.ts';
import type { BodySnapshot } from '../contract/message.ts';
import type { BodyNeed } from '../contract/verdict.ts';
import type { RequestView } from '../guard/request-view.ts';
import type { ApiRun } from '../schema/api-run.ts';
import type { SiteChecks } from '../schema/site-checks.ts';

/** Where held bytes come from. */
export interface HeldBody {
  takeBody(limitBytes: number): BodySnapshot | null;
}

/** See the header. */
export class SchemaRun {
  private run: ApiRun | null = null;
  private failOpen = false;
  private bytes: Uint8Array | null = null;
  private taken = false;

  /** Looks at the head; gives a verdict that ends the request, null where it may continue. */
  begin(
    schema: SiteChecks,
    view: RequestView,
    hasBody: boolean,
    failOpen: boolean,
  ): GuardVerdict | null {
    this.run = schema.begin(view, hasBody);
    this.failOpen = failOpen;
    return this.denial();
  }

  /** Bytes of the body that are still to be looked at; 0 for none. */
  get bodyBytes(): number {
    return this.run === null ? 0 : this.run.bodyBytes;
  }

  /** True once the body was taken, or is known to be too long. */
  get ready(): boolean {
    return this.taken;
  }

  /**
   * What is to be held for the rules and for these checks together. A limit that rejects stands as
   * it is: what is longer is refused before these checks would look at it.
   */
  joined(need: BodyNeed): BodyNeed {
    const { bodyBytes } = this;
    if (bodyBytes === 0 || (need.inspect && need.onExcess === 'reject')) return need;
    if (!need.inspect) return { inspect: true, limitBytes: bodyBytes, onExcess: 'prefix' };
    return { ...need, limitBytes: Math.max(need.limitBytes, bodyBytes) };
  }

  /** Takes what is held; a body of which there is more than `bodyBytes` is not looked at. */
  take(held: HeldBody, heldBytes: number): void {
    const { bodyBytes } = this;
    if (bodyBytes === 0) return;
    this.taken = true;
    if (heldBytes === 0) this.bytes = new Uint8Array(0);
    else if (heldBytes <= bodyBytes) this.bytes = held.takeBody(bodyBytes)?.bytes ?? null;
  }

  /** Takes what the rules read the body as; gives a verdict that ends the request, or null. */
  takeReading(read: ProcessorReading): GuardVerdict | null {
    this.run?.takeReading(read);
    return this.denial();
  }

  /** Looks at the body; gives a verdict that ends the request, null where it may continue. */
  check(): GuardVerdict | null {
    const { bytes } = this;
    this.bytes = null;
    this.run?.checkBody(bytes);
    return this.denial();
  }

  /** Counts the request; gives all that was found of it. `trace` gets what was looked at. */
  finish(trace: GuardTraceEntry[] | null): readonly GuardVerdict[] {
    const { run } = this;
    this.bytes = null;
    this.run = null;
    const found = run === null ? [] : run.verdicts(this.failOpen);
    if (trace !== null) {
      const saw = run === null ? 'no API document covers it' : run.saw;
      const verdicts = found.length === 0 ? [null] : found;
      for (const verdict of verdicts) trace.push({ guard: 'schema', saw, verdict, skipped: false });
    }
    run?.end();
    return found;
  }

  private denial(): GuardVerdict | null {
    return this.run?.verdicts(this.failOpen).find(({ action }) => action === 'deny') ?? null;
  }
}
