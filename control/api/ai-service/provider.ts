/** AIService/GetAIStatus and SetAIProviderSecret. */

import type { AIService } from '../../../proto/gen/waf/v1/ai_pb.ts';
import { assistantState } from '../../assist/assistant.ts';
import { aiOriginOf } from '../../domain/settings/ai-settings.ts';
import { invalidField } from '../../domain/errors.ts';
import { aiRecordId, aiSecrets } from '../../store/ai-collections.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';

const keyWords = { none: 'no key', set: 'key set', other: 'key of another server' } as const;

/** Whether a model is set up, and which. */
export function getAIStatus(parts: Uses<'store'>): Method<typeof AIService, 'getAIStatus'> {
  return () => {
    const { settings, key } = assistantState(parts.store);
    const { enabled, provider, endpoint, model } = settings;
    const configured = endpoint !== '' && model !== '';
    const host = endpoint === '' ? '' : new URL(endpoint).host;
    return {
      enabled,
      configured,
      provider: enabled ? provider : 'disabled',
      modelSummary: configured ? `${model} at ${host}, ${keyWords[key]}` : '',
    };
  };
}

/** Keeps the provider's key, or removes it where it is empty. It is never shown again. */
export function setAIProviderSecret(
  parts: Uses<'store'>,
): Method<typeof AIService, 'setAIProviderSecret'> {
  return async ({ apiKey }, context) => {
    const caller = callerOf(context);
    // It becomes part of a header field.
    if (!/^[!-~]{0,4096}$/.test(apiKey)) {
      throw invalidField('apiKey', 'must have printable ASCII characters without spaces');
    }
    await parts.store.write((tx) => {
      if (apiKey === '') tx.remove(aiSecrets, aiRecordId);
      else {
        const origin = aiOriginOf(assistantState(tx).settings);
        tx.put(aiSecrets, { id: aiRecordId, apiKey, origin });
      }
      const action = apiKey === '' ? 'delete' : 'update';
      tx.audit({ ...actorNote(caller), action, resourceType: 'ai_secret', resourceId: aiRecordId });
    });
    return { keySet: apiKey !== '' };
  };
}
