/**
 * The specs of AlertChannel and AlertRule documents, from document to values and back. Channels,
 * sites, pools and certificates are named; secrets of channels are never written.
 */

import {
  AlertNotificationSchema,
  type AlertChannelJson,
  type AlertNotificationJson,
  type AlertRuleJson,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import { channelKinds } from '../../domain/alert/alert-channel.ts';
import { alertSeverities, severityWord } from '../../domain/alert/alert-silence.ts';
import type { ManifestDocument } from './manifest-documents.ts';
import { choice, invalid, known, list, object, text, type Spec } from './manifest-fields.ts';
import type { ReferenceKind, References } from './manifest-references.ts';
import { filled, normal, readMessage } from './manifest-specs.ts';

const kindPrefix = 'ALERT_CHANNEL_KIND_';
const wordOf = (kind: string): string => kind.slice(kindPrefix.length).toLowerCase();

/** The channel of an AlertChannel document. */
export function readAlertChannelSpec({ name, spec, where }: ManifestDocument): AlertChannelJson {
  known(spec, ['kind', 'enabled', 'config'], where, 'spec.');
  const words = channelKinds.map(wordOf);
  if (spec['kind'] === undefined) {
    throw invalid(where, `spec.kind: is required: one of ${words.join(', ')}`);
  }
  const word = choice(spec, 'kind', words, where, 'spec.');
  const config = object(spec['config'] ?? {}, where, 'spec.config');
  return {
    name,
    kind: channelKinds.find((kind) => wordOf(kind) === word)!,
    enabled: enabledIn(spec, where),
    config: config as NonNullable<AlertChannelJson['config']>,
  };
}

/** A channel as the API or the store has it. */
type ShownChannel = Pick<AlertChannelJson, 'kind' | 'enabled'> & { readonly config?: Spec };

/** A channel as documents state it. */
export function alertChannelSpec(channel: ShownChannel): Spec {
  const { kind = 'ALERT_CHANNEL_KIND_UNSPECIFIED', enabled, config } = channel;
  return { kind: wordOf(kind), enabled: enabled ?? false, config: config ?? {} };
}

/** What a filter of a condition names by id, and how documents name it. */
const filterReferences: readonly {
  readonly id: string;
  readonly ref: string;
  readonly kind: ReferenceKind;
}[] = [
  { id: 'siteId', ref: 'siteRef', kind: 'site' },
  { id: 'upstreamId', ref: 'upstreamRef', kind: 'upstream' },
  { id: 'certificateId', ref: 'certRef', kind: 'certificate' },
];

/** The rule of an AlertRule document. */
export function readAlertRuleSpec(
  { name, spec, where }: ManifestDocument,
  references: References,
): AlertRuleJson {
  known(spec, ['enabled', 'severity', 'condition', 'channels', 'notification'], where, 'spec.');
  const severities = alertSeverities.map(severityWord);
  if (spec['severity'] === undefined) {
    throw invalid(where, `spec.severity: is required: one of ${severities.join(', ')}`);
  }
  const severity = choice(spec, 'severity', severities, where, 'spec.');
  const condition = object(spec['condition'], where, 'spec.condition');
  const filter = readFilter(condition['filter'] ?? {}, where, references);
  const channelIds = list(spec, 'channels', where, 'spec.').map((one, at) => {
    const field = `spec.channels[${at}]`;
    if (typeof one !== 'string') throw invalid(where, `${field}: must be text`);
    return references.idOf('alert channel', one, where, field);
  });
  const rule: AlertRuleJson = {
    name,
    enabled: enabledIn(spec, where),
    severity: alertSeverities.find((one) => severityWord(one) === severity)!,
    expression: JSON.stringify({ ...condition, filter }),
    channelIds,
  };
  if (spec['notification'] === undefined) return rule;
  const notification = readMessage<AlertNotificationJson>(
    AlertNotificationSchema,
    spec['notification'],
    where,
    'spec.notification',
  );
  return { ...rule, notification };
}

/** A rule as the API or the store has it. */
type ShownRule = Omit<AlertRuleJson, 'channelIds'> & { readonly channelIds?: readonly string[] };

/** A rule as documents state it. */
export function alertRuleSpec(
  { enabled, severity = 'ALERT_SEVERITY_INFO', expression = '{}', ...rule }: ShownRule,
  references: References,
): Spec {
  const { filter = {}, ...condition } = JSON.parse(expression) as { readonly filter?: Spec };
  return {
    enabled: enabled ?? false,
    severity: severityWord(severity),
    condition: { ...condition, ...filled({ filter: filterSpec(filter, references) }) },
    ...filled({
      channels: (rule.channelIds ?? []).map((id) => references.nameOf('alert channel', id)),
      notification: normal(AlertNotificationSchema, rule.notification),
    }),
  };
}

/** What a filter names and nobody knows any more keeps its id: the rule waits for it. */
function filterSpec(filter: Spec, references: References): Spec {
  const stated = { ...filter } as Record<string, unknown>;
  for (const { id, ref, kind } of filterReferences) {
    const value = stated[id];
    if (typeof value !== 'string' || references.find(kind, value) === undefined) continue;
    delete stated[id];
    stated[ref] = references.nameOf(kind, value);
  }
  return stated;
}

function readFilter(value: unknown, where: string, references: References): Spec {
  const at = 'spec.condition.filter';
  const filter: Record<string, unknown> = { ...object(value, where, at) };
  for (const { id, ref, kind } of filterReferences) {
    const name = text(filter, ref, where, `${at}.`);
    delete filter[ref];
    if (name === '') continue;
    if (filter[id] !== undefined) throw invalid(where, `${at}.${ref}: excludes ${id}`);
    filter[id] = references.idOf(kind, name, where, `${at}.${ref}`);
  }
  return filter;
}

function enabledIn(spec: Spec, where: string): boolean {
  const enabled = spec['enabled'] ?? true;
  if (typeof enabled === 'boolean') return enabled;
  throw invalid(where, 'spec.enabled: must be true or false');
}
