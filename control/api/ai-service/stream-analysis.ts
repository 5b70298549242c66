/** AIService/StreamAnalysis: explains an event, or a table of events. */

import type { HandlerContext } from '@connectrpc/connect';
import {
  LogKind,
  type AIService,
  type LogEventRef,
  type StreamAnalysisRequest,
} from '../../../proto/gen/waf/v1/ai_pb.ts';
import { requireAssistant } from '../../assist/assistant.ts';
import { analysisPrompt } from '../../assist/prompts.ts';
import { invalidField, notFound } from '../../domain/errors.ts';
import { isEventId } from '../../observe/events/event-id.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import { explainEvent } from '../log-service/explain-event.ts';
import type { Method } from '../method.ts';
import { requireOurs } from '../resource/owned.ts';
import { shownAccessEvent, shownErrorEvent, shownSecurityEvent } from './shown-events.ts';
import { assistantOf } from './shared-assistant.ts';

/** Streams the explanation as plain text. */
export function streamAnalysis(
  parts: Uses<'store' | 'clock' | 'events'>,
): Method<typeof AIService, 'streamAnalysis'> {
  return async function* (request, context) {
    requireAssistant(parts.store);
    const messages = analysisPrompt(await subjectOf(parts, context, request));
    const actor = actorNote(callerOf(context));
    const { signal } = context;
    for await (const piece of assistantOf(parts).ask({
      actor,
      purpose: 'analysis',
      messages,
      signal,
    })) {
      const { delta, done, tokens } = piece;
      yield { delta, done, tokenCost: BigInt(tokens) };
    }
  };
}

async function subjectOf(
  parts: Uses<'store' | 'events'>,
  context: HandlerContext,
  { subject }: StreamAnalysisRequest,
): Promise<unknown> {
  if (subject.case === 'logEvent') return eventOf(parts, context, subject.value);
  if (subject.case !== 'logTable') throw invalidField('logEvent', 'is required, or logTable');
  const { view, columns, rows } = subject.value;
  return { view, columns, rows: rows.map(({ cells }) => cells) };
}

/** Errors: not_found, also for events of other tenants. */
async function eventOf(
  parts: Uses<'store' | 'events'>,
  context: HandlerContext,
  { kind, id }: LogEventRef,
) {
  const caller = callerOf(context);
  const name = ({ 1: 'security', 2: 'access', 3: 'error' } as const)[Number(kind)];
  if (kind === LogKind.UNSPECIFIED || name === undefined) {
    throw invalidField('logEvent.kind', 'is required');
  }
  if (!isEventId(id)) throw notFound(`${name} event`, id);
  const { events, store } = parts;
  if (name === 'access') {
    const event = await events.ask({ ask: 'get', kind: 'access', id }, context.signal);
    return shownAccessEvent(requireOurs(event, caller, 'access event', id));
  }
  if (name === 'error') {
    const event = await events.ask({ ask: 'get', kind: 'error', id }, context.signal);
    return shownErrorEvent(requireOurs(event, caller, 'error event', id));
  }
  const found = await events.ask({ ask: 'get', kind: 'security', id }, context.signal);
  const event = requireOurs(found, caller, 'security event', id);
  const { exclusions, notes } = explainEvent(store, caller, event).explanation;
  const avoidedBy = exclusions.map(({ summary }) => summary);
  return { event: shownSecurityEvent(event), avoidedBy, notes };
}
