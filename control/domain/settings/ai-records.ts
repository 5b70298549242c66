/** What is kept of the assistant: the key of its provider, its use, and its proposals. */

import type { AIProposalJson } from '../../../proto/gen/waf/v1/ai_pb.ts';

/** The key of the provider. Never leaves the store but towards the provider. */
export interface AiSecretRecord {
  readonly id: string;
  readonly apiKey: string;
  /** The server that it was given for; '' until one is set up. */
  readonly origin: string;
}

/** What was asked lately; one record. */
export interface AiUseRecord {
  readonly id: string;
  /** UTC hour and the calls in it. */
  readonly hour: string;
  readonly calls: number;
  /** UTC day and its tokens; those that a running call may take are part of them. */
  readonly day: string;
  readonly tokens: number;
}

/** A suggested change. */
export type AiProposalRecord = AIProposalJson & {
  readonly id: string;
  readonly tenantId: string;
  readonly policyId: string;
  readonly createdAt: string;
};
