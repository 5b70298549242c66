/** AlertService/ListAlertSilences, CreateAlertSilence and PreviewAlertSilence. */

import { randomUUID } from 'node:crypto';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { AlertService } from '../../../proto/gen/waf/v1/alert_pb.ts';
import type { AlertSilenceRecord } from '../../domain/alert/alert-records.ts';
import {
  checkMatchers,
  checkSilenceTime,
  isInForce,
  silences,
} from '../../domain/alert/alert-silence.ts';
import { isActive } from '../../domain/alert/alert-states.ts';
import { refusal } from '../../domain/errors.ts';
import { alertLimits } from '../../limits/alert-limits.ts';
import { alerts, alertSilences } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { pageOf } from '../convert.ts';
import type { Method } from '../method.ts';
import { keep, ownedBy } from '../resource/owned.ts';
import { showAlert, showSilence, silenceKind } from './stored.ts';

/** Lists silences, those that end last first. */
export function listAlertSilences({
  store,
  clock,
}: Uses<'store' | 'clock'>): Method<typeof AlertService, 'listAlertSilences'> {
  return ({ activeOnly, page: asked }, context) => {
    const nowMs = clock.nowMs();
    const found = ownedBy(store, callerOf(context), silenceKind)
      .filter((one) => !activeOnly || isInForce(one, nowMs))
      .sort((left, right) => (left.endsAt > right.endsAt ? -1 : 1));
    const { items, page } = pageOf(found, asked);
    return { items: items.map(showSilence), page };
  };
}

/** Keeps matching alerts quiet for a time. */
export function createAlertSilence({
  store,
  clock,
}: Uses<'store' | 'clock'>): Method<typeof AlertService, 'createAlertSilence'> {
  return async ({ matchers, startsAt, endsAt, reason }, context) => {
    const caller = callerOf(context);
    const nowMs = clock.nowMs();
    const ms = (time: typeof startsAt): number | null =>
      time === undefined ? null : timestampMs(time);
    const record: AlertSilenceRecord = {
      id: `alert-silence-${randomUUID()}`,
      tenantId: caller.tenantId,
      matchers: checkMatchers(matchers),
      ...checkSilenceTime(ms(startsAt), ms(endsAt), nowMs),
      createdBy: caller.userId,
      reason: reason.trim(),
      createdAt: new Date(nowMs).toISOString(),
    };
    await store.write((tx) => {
      const over = tx.list(alertSilences).filter((one) => Date.parse(one.endsAt) <= nowMs);
      const { silencesMax } = alertLimits;
      if (tx.count(alertSilences) - over.length >= silencesMax) {
        throw refusal('resource_exhausted', `there are at most ${silencesMax} alert silences`);
      }
      // Those that are over stay to be seen while there is room.
      if (tx.count(alertSilences) >= silencesMax) {
        for (const { id } of over) tx.remove(alertSilences, id);
      }
      keep(tx, caller, silenceKind, null, record);
    });
    return { silence: showSilence(record) };
  };
}

/** Says which active alerts a silence would cover, newest first. */
export function previewAlertSilence({
  store,
}: Uses<'store'>): Method<typeof AlertService, 'previewAlertSilence'> {
  return ({ matchers }, context) => {
    const { tenantId } = callerOf(context);
    const wanted = { matchers: checkMatchers(matchers) };
    const found = [...store.walk(alerts, { reverse: true })].filter(
      (alert) => alert.tenantId === tenantId && isActive(alert.state) && silences(wanted, alert),
    );
    const shown = found.slice(0, alertLimits.previewedAlertsMax);
    return { matchingCount: BigInt(found.length), items: shown.map(showAlert) };
  };
}
