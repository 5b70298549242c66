/** SystemService/ListUpgradeRuns, GetUpgradeRun, StreamUpgradeRun and CancelUpgradeRun. */

import type { JsonObject } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  UpgradeRunEventKind,
  UpgradeRunSchema,
  type SystemService,
  type UpgradeRun,
} from '../../../proto/gen/waf/v1/system_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { refusal } from '../../domain/errors.ts';
import {
  isOpen,
  type UpgradeEvent,
  type UpgradeRunRecord,
} from '../../domain/release/upgrade-run.ts';
import { upgradeRuns } from '../../store/collections.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import { pageOf, requireText, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { ownedBy, requireOurs } from '../resource/owned.ts';

/** Runs, the newest first. */
export function listUpgradeRuns(
  parts: Uses<'store'>,
): Method<typeof SystemService, 'listUpgradeRuns'> {
  return ({ page: asked }, context) => {
    const { tenantId } = callerOf(context);
    const found = ownedBy(parts.store, { tenantId }, { collection: upgradeRuns }).sort(
      (left, right) => right.createdAt.localeCompare(left.createdAt),
    );
    const { items, page } = pageOf(found, asked);
    return { items: items.map(showRun), page };
  };
}

/** One run. */
export function getUpgradeRun(parts: Uses<'store'>): Method<typeof SystemService, 'getUpgradeRun'> {
  return ({ id }, context) => ({ run: showRun(storedRun(parts, callerOf(context), id)) });
}

/** What happened in a run, from its begin, and what happens until it ends. */
export function streamUpgradeRun(
  parts: Uses<'store' | 'upgrades'>,
): Method<typeof SystemService, 'streamUpgradeRun'> {
  return async function* ({ runId }, context) {
    const caller = callerOf(context);
    let run = storedRun(parts, caller, runId);
    let wake = (): void => undefined;
    let changed = false;
    const heard = (): void => {
      changed = true;
      wake();
    };
    const undo = parts.upgrades.watch(runId, heard);
    context.signal.addEventListener('abort', heard);
    try {
      for (let sent = 0; !context.signal.aborted;) {
        changed = false;
        run = storedRun(parts, caller, runId);
        while (sent < run.events.length) yield { event: showEvent(runId, run.events[sent++]!) };
        if (!isOpen(run)) return;
        if (!changed) await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      undo();
      context.signal.removeEventListener('abort', heard);
    }
  };
}

/** Ends a run; nodes that have an order finish it. */
export function cancelUpgradeRun(
  parts: Uses<'store' | 'upgrades'>,
): Method<typeof SystemService, 'cancelUpgradeRun'> {
  return async ({ runId }, context) => {
    const caller = callerOf(context);
    const run = storedRun(parts, caller, requireText(runId, 'runId'));
    if (!isOpen(run)) {
      throw refusal('failed_precondition', `runId: run ${runId} has ${run.state} already`);
    }
    await parts.upgrades.cancel(runId, {
      ...actorNote(caller),
      ...runNote(run),
      action: 'cancel',
    });
    return { run: showRun(storedRun(parts, caller, runId)) };
  };
}

/** A run as clients see it. */
export function showRun(run: UpgradeRunRecord): UpgradeRun {
  return toMessage(UpgradeRunSchema, {
    id: run.id,
    targetVersion: run.targetVersion,
    status: `UPGRADE_RUN_STATUS_${run.state.toUpperCase()}`,
    ...(run.startedAt === '' ? {} : { startedAt: run.startedAt }),
    ...(run.finishedAt === '' ? {} : { finishedAt: run.finishedAt }),
  });
}

/** The resource's part of an audit row. */
export function runNote({ id, targetVersion }: UpgradeRunRecord) {
  return { resourceType: 'upgrade_run', resourceId: id, resourceName: targetVersion };
}

function showEvent(runId: string, { kind, at, payload }: UpgradeEvent) {
  return {
    runId,
    kind: UpgradeRunEventKind[kind],
    occurredAt: timestampFromMs(Date.parse(at)),
    payload: { ...payload } as JsonObject,
  };
}

/** Errors: not_found. */
function storedRun({ store }: Uses<'store'>, caller: Caller, id: string): UpgradeRunRecord {
  return requireOurs(store.get(upgradeRuns, id), caller, 'upgrade run', id);
}
