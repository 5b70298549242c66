/**
 * The settings that choose something for each site: objects of choices by site id, where `*` stands
 * for all sites that are not named. Pure, and without what checks a value.
 */

import type { RuntimeSiteOptions } from '../../../proto/gen/waf/runtime/v1/bundle_pb.ts';

type Values = Readonly<Record<string, unknown>>;

/** One such setting. */
export interface SiteOption {
  readonly key: string;
  /** Where nodes get it. */
  readonly field: Exclude<keyof RuntimeSiteOptions, 'siteId' | '$typeName' | '$unknown'>;
  /** What may be chosen, the standard first. */
  readonly choices: readonly string[];
}

/** Stands for all sites that are not named. */
export const everySite = '*';

/** Whether messages of WebSockets are inspected. */
export const websocketMessages: SiteOption = {
  key: 'websocket.messages',
  field: 'websocketMessages',
  choices: ['off', 'observe', 'block'],
};

/** Whether answers have RateLimit fields. */
export const rateLimitFields: SiteOption = {
  key: 'rate_limit.fields',
  field: 'rateLimitFields',
  choices: ['off', 'on'],
};

/** Whether text fields of gRPC messages are inspected as arguments. */
export const grpcFields: SiteOption = {
  key: 'grpc.fields',
  field: 'grpcFields',
  choices: ['off', 'on'],
};

/** How a site's origin reads names such as `n[]`, for checks of API documents. */
export const arrayNames: SiteOption = {
  key: 'api.array_names',
  field: 'arrayNames',
  choices: ['none', 'php', 'qs'],
};

/** Whether values that regularly hold what looks like an attack are proposed, or let through. */
export const detectionLearning: SiteOption = {
  key: 'detection.learning',
  field: 'detectionLearning',
  choices: ['suggest', 'off', 'auto'],
};

/** Applications whose fields are known: `wordpress@/blog,dokuwiki`; '' for none. */
export const detectionApplications: SiteOption = {
  key: 'detection.applications',
  field: 'detectionApplications',
  choices: [''],
};

/** All of them. */
export const siteOptions: readonly SiteOption[] = [
  websocketMessages,
  rateLimitFields,
  grpcFields,
  arrayNames,
  detectionLearning,
  detectionApplications,
];

/** What a setting chooses, by site id. */
export function choicesOf(values: Values, key: string): Readonly<Record<string, string>> {
  return (values[key] ?? {}) as Readonly<Record<string, string>>;
}

/** What a setting chooses for a site: its own value, that for all, or the standard. */
export function chosenFor(values: Values, { key, choices }: SiteOption, siteId: string): string {
  const chosen = choicesOf(values, key);
  return chosen[siteId] ?? chosen[everySite] ?? choices[0] ?? '';
}
