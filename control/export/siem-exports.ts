/**
 * SIEM targets as the settings name them: each new fact goes to every target that wants it, in that
 * target's form. A change of the settings replaces the targets that it concerns only.
 */

import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { allowedNetworksOf } from '../domain/settings/outgoing-settings.ts';
import {
  siemTargetsOf,
  type SiemEvent,
  type SiemTarget,
} from '../domain/settings/siem-settings.ts';
import { settingsId, systemSettings } from '../store/collections.ts';
import type { Store } from '../store/store.ts';
import { Delivery, type DeliveryStats } from './delivery.ts';
import { EvidenceWait, type FindEvidence, type RequestEvidence } from './evidence-wait.ts';
import { readFact, type ExportedFact } from './fact.ts';
import { messageOf } from './messages.ts';
import { framed, syslogText } from './syslog.ts';
import { openWire } from './wire.ts';

/** How a target is. */
export interface TargetStats extends DeliveryStats {
  readonly id: string;
}

/** What is sent to SIEM targets. */
export interface SiemExports {
  /** True where some target wants these events. */
  wants(event: SiemEvent): boolean;
  /** Takes a fact as a node sent it; never waits, never throws. */
  take(event: SiemEvent, bytes: Uint8Array, from: FactSource): void;
  /** Every target that is on. */
  stats(): TargetStats[];
  /** Messages that targets lost since control began, also those that are gone by now. */
  losses(): number;
  close(): Promise<void>;
}

/** Where a fact comes from. */
export interface FactSource {
  readonly agentId: string;
  readonly tenantId: string;
}

interface SiemParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the product. */
  readonly version: string;
  readonly findEvidence: FindEvidence;
}

interface Running {
  readonly target: SiemTarget;
  readonly delivery: Delivery;
}

/** Starts to send to the targets of the settings, and follows their changes. */
export function startSiemExports(parts: SiemParts): SiemExports {
  const { store, clock, logger, version, findEvidence } = parts;
  const awaited = new EvidenceWait(findEvidence, () => clock.nowMs());
  const machine = hostname();
  const running = new Map<string, Running>();
  const leaving = new Set<Promise<void>>();
  let lostBefore = 0;
  const stop = (id: string, { delivery }: Running): void => {
    running.delete(id);
    const left = delivery
      .close()
      .catch((error: unknown) => {
        logger.error('a SIEM target did not end', {
          target: id,
          reason: toAppError(error).message,
        });
      })
      .finally(() => {
        lostBefore += delivery.stats().dropped;
        leaving.delete(left);
      });
    leaving.add(left);
  };
  const follow = (): void => {
    const wanted = new Map(siemTargetsOf(valuesOf(store)).map((target) => [target.id, target]));
    for (const [id, one] of running) {
      if (JSON.stringify(one.target) !== JSON.stringify(wanted.get(id))) stop(id, one);
    }
    for (const [id, target] of wanted) {
      if (!running.has(id)) running.set(id, { target, delivery: deliveryTo(parts, target) });
    }
  };
  const undo = store.onChange((changed) => {
    if (changed.has(systemSettings.name)) follow();
  });
  follow();
  return {
    wants: (event) => [...running.values()].some(({ target }) => target.events.includes(event)),
    take: (event, bytes, from) => {
      let read: ExportedFact | null | undefined;
      const fact = (): ExportedFact | null => (read ??= readFact(event, bytes, from));
      for (const { target, delivery } of running.values()) {
        if (!target.events.includes(event)) continue;
        const offer = (evidence: RequestEvidence | null): void =>
          delivery.offer(() => {
            const known = fact();
            if (known === null) throw new TypeError('a fact is damaged');
            const message = messageOf(known, target.format, version, evidence);
            return framed(syslogText(message, target.facility, machine), target);
          });
        const request = target.evidence ? requestOf(fact()) : null;
        if (request === null) offer(null);
        else awaited.add(request, offer);
      }
    },
    stats: () => [...running].map(([id, { delivery }]) => ({ id, ...delivery.stats() })),
    losses: () =>
      [...running.values()].reduce((sum, one) => sum + one.delivery.stats().dropped, lostBefore),
    close: async () => {
      undo();
      awaited.close();
      for (const [id, one] of running) stop(id, one);
      await Promise.all(leaving);
    },
  };
}

/** The request whose evidence a fact waits for; null for a fact of no request. */
function requestOf(known: ExportedFact | null) {
  if (known?.event !== 'security') return null;
  const { requestId, siteId, receivedAtMs } = known.fact;
  const { tenantId } = known;
  return { requestId, siteId, tenantId, receivedAtMs: Number(receivedAtMs) };
}

function deliveryTo({ store, clock }: SiemParts, target: SiemTarget): Delivery {
  return new Delivery({
    queueBytes: target.queueBytes,
    together: target.transport !== 'udp',
    // Read at each attempt: what an operator allows counts from the next one on.
    open: (signal) => openWire(target, allowedNetworksOf(valuesOf(store)), signal),
    clock,
    pause: async (ms, signal) => {
      // An abort is the early end of a pause.
      await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
    },
  });
}

function valuesOf(store: Store): Readonly<Record<string, unknown>> {
  return store.get(systemSettings, settingsId)?.values ?? {};
}
