/** The setting that says which language model may be asked, and how much. Pure. */

import { invalidField } from '../errors.ts';
import { boolean, checkFields, filled, oneOf, pattern, text, whole } from '../setting-fields.ts';

/** Key of the setting. */
export const aiKey = 'ai.config';

/** The kinds of providers; both speak the same wire, under other paths and header names. */
export const aiProviders = ['openai_compatible', 'azure_openai'] as const;

/** What the setting says. The key of the provider is kept apart: see SetAIProviderSecret. */
export interface AiSettings {
  /** Off: nothing leaves the machine. */
  readonly enabled: boolean;
  readonly provider: (typeof aiProviders)[number];
  /** Base of the API: `https://models.example/v1`. */
  readonly endpoint: string;
  /** Name of the model, or of the deployment. */
  readonly model: string;
  /** Of azure_openai. */
  readonly apiVersion: string;
  /** Of one call in all. */
  readonly timeoutSeconds: number;
  /** Of one answer. */
  readonly answerTokensMax: number;
  readonly callsPerHour: number;
  readonly tokensPerDay: number;
}

const fields = {
  enabled: [false, boolean],
  provider: ['openai_compatible', oneOf(...aiProviders)],
  endpoint: ['', text(0, 1024)],
  model: ['', pattern(/^[\w./:@-]{0,128}$/, 'must be the name of a model')],
  apiVersion: ['2024-10-21', pattern(/^[\w.-]{1,64}$/, 'must be a version')],
  timeoutSeconds: [60, whole(1, 600)],
  answerTokensMax: [1024, whole(16, 16_384)],
  callsPerHour: [60, whole(1, 10_000)],
  tokensPerDay: [200_000, whole(1000, 100_000_000)],
} as const;

/** The setting of a deployment that never changed it. */
export const standardAiSettings = {};

/** Errors: invalid_argument naming the field. */
export function checkAiSettings(value: unknown, at: string): void {
  checkFields(value, fields, at);
  const { enabled, endpoint, model } = filled(value, fields) as unknown as AiSettings;
  if (endpoint !== '') checkEndpoint(endpoint, `${at}.endpoint`);
  if (!enabled) return;
  if (endpoint === '') throw invalidField(`${at}.endpoint`, 'is required');
  if (model === '') throw invalidField(`${at}.model`, 'is required');
}

/** The key travels with each call: in the clear to this machine only. */
function checkEndpoint(endpoint: string, at: string): void {
  if (!URL.canParse(endpoint)) throw invalidField(at, 'must be a URL');
  const { protocol, hostname, username, password, search, hash } = new URL(endpoint);
  const here = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && here)) {
    throw invalidField(at, 'must begin with https://; http:// is for this machine only');
  }
  if (username !== '' || password !== '' || search !== '' || hash !== '') {
    throw invalidField(at, 'must have no user, query or fragment: the key is set apart');
  }
}

/** The setting, from stored values. */
export function aiSettingsOf(values: Readonly<Record<string, unknown>>): AiSettings {
  return filled(values[aiKey] ?? {}, fields) as unknown as AiSettings;
}

/** The server that a model is asked at; '' where none is set up. */
export function aiOriginOf({ endpoint }: Pick<AiSettings, 'endpoint'>): string {
  return URL.canParse(endpoint) ? new URL(endpoint).origin : '';
}
