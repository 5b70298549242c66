/**
 * Asks the model that an operator has set up: only while it is switched on, within the bounds of
 * calls and tokens, each call with an audit row before anything is sent. Answers are plain text.
 */

import { FetchError } from '../access/outgoing.ts';
import type { Clock } from '../../base/clock.ts';
import { aiOriginOf, aiSettingsOf, type AiSettings } from '../domain/settings/ai-settings.ts';
import { refusal } from '../domain/errors.ts';
import { allowedNetworksOf } from '../domain/settings/outgoing-settings.ts';
import { aiLimits } from '../limits/ai-limits.ts';
import { aiRecordId, aiSecrets, aiUse } from '../store/ai-collections.ts';
import type { AuditNote } from '../store/audit-chain.ts';
import { settingsId, systemSettings } from '../store/collections.ts';
import type { ReadStore, Store, WriteStore } from '../store/store.ts';
import { callModel } from './model-call.ts';
import { escapeMarkup, PlainText } from './plain-text.ts';
import { promptBytes, type ModelMessage } from './prompts.ts';

/** Who asks what for. */
export interface Question {
  readonly actor: Pick<AuditNote, 'actorId' | 'actorName' | 'tenantId'>;
  /** Name of the RPC; the audit row has it. */
  readonly purpose: string;
  readonly messages: readonly ModelMessage[];
  readonly signal: AbortSignal;
}

/** A piece of the answer; the last one says what it took. */
export interface AnswerPiece {
  readonly delta: string;
  readonly done: boolean;
  readonly tokens: number;
}

/** What is set up. */
export interface AssistantState {
  readonly settings: AiSettings;
  /** `other`: a key is kept that was given for another server, which alone gets it. */
  readonly key: 'none' | 'set' | 'other';
}

/** What is set up now. */
export function assistantState(store: ReadStore): AssistantState {
  const settings = aiSettingsOf(store.get(systemSettings, settingsId)?.values ?? {});
  const secret = store.get(aiSecrets, aiRecordId);
  if (secret === undefined || secret.apiKey === '') return { settings, key: 'none' };
  const fits = secret.origin === '' || secret.origin === aiOriginOf(settings);
  return { settings, key: fits ? 'set' : 'other' };
}

/** Errors: failed_precondition that says what is missing. */
export function requireAssistant(store: ReadStore): AiSettings {
  const { settings, key } = assistantState(store);
  if (settings.enabled && key !== 'other') return settings;
  if (settings.enabled) {
    throw refusal(
      'failed_precondition',
      'the key was given for another server: nothing was sent. Set the key of this one, or remove it',
    );
  }
  throw refusal(
    'failed_precondition',
    'no language model is set up: nothing was sent. Set ai.config, and switch it on there',
  );
}

type Escape = (text: string) => string;

/** The assistant of a deployment. */
export class Assistant {
  readonly #store: Store;
  readonly #clock: Clock;
  #running = 0;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * The answer, as it comes. Errors: failed_precondition while it is off, resource_exhausted when a
   * bound is reached, unavailable when the provider does not answer as it should.
   */
  ask(question: Question): AsyncGenerator<AnswerPiece> {
    return this.#ask(question, escapeMarkup);
  }

  /** The whole answer, as the model wrote it: for what is read as JSON, and never shown itself. */
  async askWhole(question: Question): Promise<string> {
    let answer = '';
    for await (const { delta } of this.#ask(question, (text) => text)) answer += delta;
    return answer;
  }

  async *#ask(question: Question, escape: Escape): AsyncGenerator<AnswerPiece> {
    const settings = requireAssistant(this.#store);
    const bytes = promptBytes(question.messages);
    if (bytes > aiLimits.promptBytesMax) {
      const most = aiLimits.promptBytesMax;
      throw refusal('invalid_argument', `the question is too long: ${bytes} of ${most} bytes`);
    }
    if (this.#running >= aiLimits.callsAtOnceMax) {
      throw refusal('resource_exhausted', 'the model is asked too much at once; try again later');
    }
    this.#running++;
    try {
      yield* this.#askWithin(settings, question, bytes, escape);
    } finally {
      this.#running--;
    }
  }

  async *#askWithin(
    settings: AiSettings,
    question: Question,
    bytes: number,
    escape: Escape,
  ): AsyncGenerator<AnswerPiece> {
    const promised = Math.ceil(bytes / aiLimits.bytesPerToken) + settings.answerTokensMax;
    const reserved = await this.#store.write((tx) =>
      this.#reserve(tx, settings, question, promised),
    );
    const { apiKey } = reserved;
    const values = this.#store.get(systemSettings, settingsId)?.values ?? {};
    const allowedNetworks = allowedNetworksOf(values);
    const text = new PlainText(apiKey, aiLimits.answerCharsMax, escape);
    let stated = 0;
    let answered = 0;
    try {
      const { messages, signal } = question;
      for await (const piece of callModel({
        settings,
        apiKey,
        messages,
        allowedNetworks,
        signal,
      })) {
        if ('tokens' in piece) stated = Math.max(stated, piece.tokens);
        else {
          answered += piece.text.length;
          const delta = text.push(piece.text);
          if (delta !== '') yield { delta, done: false, tokens: 0 };
          if (text.cut) break;
        }
      }
      const rest = text.end() + (text.cut ? ' (cut)' : '');
      const took = stated || tokensOf(bytes + answered);
      yield { delta: rest, done: true, tokens: took };
    } catch (error) {
      if (error instanceof FetchError) throw refusal('unavailable', advise(error));
      throw error;
    } finally {
      const took = stated || tokensOf(bytes + answered);
      await this.#store.write((tx) => this.#settle(tx, reserved, took));
    }
  }

  /** Takes the tokens that the call may need; answers with them. Errors: resource_exhausted. */
  #reserve(
    tx: WriteStore,
    { callsPerHour, tokensPerDay, model, endpoint }: AiSettings,
    { actor, purpose }: Question,
    promised: number,
  ): { readonly day: string; readonly tokens: number; readonly apiKey: string } {
    const { hour, day } = this.#now();
    const known = tx.get(aiUse, aiRecordId);
    const calls = known?.hour === hour ? known.calls : 0;
    const tokens = known?.day === day ? known.tokens : 0;
    if (calls >= callsPerHour) {
      throw refusal(
        'resource_exhausted',
        `the model was asked ${calls} times this hour: the limit`,
      );
    }
    if (tokens + promised > tokensPerDay) {
      const problem = `this call may take ${promised} tokens, and today's limit leaves fewer`;
      throw refusal('resource_exhausted', problem);
    }
    tx.put(aiUse, { id: aiRecordId, hour, calls: calls + 1, day, tokens: tokens + promised });
    const metadata = { purpose, model };
    tx.audit({ ...actor, action: 'ask', resourceType: 'ai', resourceId: model, metadata });
    return { day, tokens: promised, apiKey: takeKey(tx, endpoint) };
  }

  /** Gives back what the call did not take. */
  #settle(
    tx: WriteStore,
    reserved: { readonly day: string; readonly tokens: number },
    took: number,
  ): void {
    const known = tx.get(aiUse, aiRecordId);
    if (known?.day !== reserved.day) return;
    tx.put(aiUse, { ...known, tokens: Math.max(0, known.tokens - reserved.tokens + took) });
  }

  #now(): { hour: string; day: string } {
    const now = new Date(this.#clock.nowMs()).toISOString();
    return { hour: now.slice(0, 13), day: now.slice(0, 10) };
  }
}

/** The key for a server; from the first call on it is this server's. */
function takeKey(tx: WriteStore, endpoint: string): string {
  const secret = tx.get(aiSecrets, aiRecordId);
  const origin = aiOriginOf({ endpoint });
  if (secret === undefined || (secret.origin !== '' && secret.origin !== origin)) return '';
  if (secret.origin === '') tx.put(aiSecrets, { ...secret, origin });
  return secret.apiKey;
}

function tokensOf(bytes: number): number {
  return Math.ceil(bytes / aiLimits.bytesPerToken);
}

/** The failure and, where there is one, the next step. */
function advise({ message, resultCode, httpStatus }: FetchError): string {
  const text = message.replace('the source', 'the model');
  if (resultCode === 'blocked_address') return `${text}; see outgoing.allowed_networks`;
  if (httpStatus === 401 || httpStatus === 403) return `${text}: set its key`;
  return text;
}
