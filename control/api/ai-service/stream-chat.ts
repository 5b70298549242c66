/** AIService/StreamChat: the next turn of a conversation about a site's events. */

import {
  QuerySecurityEventsRequestSchema,
  SecurityEventOutcome,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { create } from '@bufbuild/protobuf';
import type { AIService } from '../../../proto/gen/waf/v1/ai_pb.ts';
import { requireAssistant } from '../../assist/assistant.ts';
import { chatPrompt } from '../../assist/prompts.ts';
import { invalidField } from '../../domain/errors.ts';
import { aiLimits } from '../../limits/ai-limits.ts';
import { queryEvents, securityFilter } from '../../observe/query.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import { requireText } from '../convert.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { shownSecurityEvent } from './shown-events.ts';
import { assistantOf } from './shared-assistant.ts';

/** Streams the answer as plain text; says first what was read for it. */
export function streamChat(
  parts: Uses<'store' | 'clock' | 'events'>,
): Method<typeof AIService, 'streamChat'> {
  return async function* ({ history, message, siteId }, context) {
    requireAssistant(parts.store);
    const caller = callerOf(context);
    requireText(message, 'message');
    history.forEach(({ role }, at) => {
      if (role === 'user' || role === 'assistant') return;
      throw invalidField(`history[${at}].role`, 'must be user or assistant');
    });
    if (siteId !== '') storedSite(parts.store, caller, siteId, 'siteId');
    const outcome = SecurityEventOutcome.ANY;
    const query = create(QuerySecurityEventsRequestSchema, { siteId, outcome });
    const filter = securityFilter(caller.tenantId, query);
    const page = { $typeName: 'waf.v1.CursorRequest', pageSize: aiLimits.chatEventsMax } as const;
    const asked = { ...page, cursor: '', offset: 0 };
    const { items } = await queryEvents(parts.events, 'security', filter, asked, context.signal);
    yield { toolActivity: `read ${items.length} security events` };
    const messages = chatPrompt(history, message, items.map(shownSecurityEvent));
    const { signal } = context;
    const question = { actor: actorNote(caller), purpose: 'chat', messages, signal };
    for await (const { delta, done, tokens } of assistantOf(parts).ask(question)) {
      yield { delta, done, tokenCost: BigInt(tokens) };
    }
  };
}
