/**
 * Says, after a change, when the built-in node serves it: rules may compile for some seconds first.
 * The change itself is kept by then; nothing here makes a command fail.
 */

import { setTimeout as wait } from 'node:timers/promises';
import { commandLineLimits } from '../limits/command-limits.ts';
import type { ApiClient } from './api-client.ts';
import type { Output } from './output.ts';

/** What is known of the node at one moment. */
export interface ServingState {
  readonly connected: boolean;
  /** Revision that it is to serve. */
  readonly target: bigint;
  /** A later one is being made. */
  readonly publishing: boolean;
  readonly serves: bigint;
  readonly tried: bigint;
  readonly failure: string;
}

/** The state before or after a change; null where the caller may not know, or nobody answers. */
export async function readServing({ agents }: ApiClient): Promise<ServingState | null> {
  try {
    const { items } = await agents.listNodes({ localOnly: true });
    const { targetRevision, publishing } = await agents.getNodeServingState({ nodeId: 'local' });
    const node = items[0];
    if (node === undefined) return null;
    return {
      connected: node.connectionStatus !== 'OFFLINE',
      target: targetRevision,
      publishing,
      serves: node.configRevision,
      tried: node.attemptConfigRevision,
      failure: node.applyResult === 'failure' ? node.applyError : '',
    };
  } catch {
    return null;
  }
}

/** Waits for what was published after `before`; says something only when there is a need. */
export async function awaitServing(
  api: ApiClient,
  output: Output,
  before: ServingState | null,
): Promise<void> {
  if (before === null) return;
  if (!before.connected) {
    output.note('No node is connected. The change is saved; a node serves it once it connects.');
    return;
  }
  const { publishNoticeMs, servingPollMs, servingNoticeMs, servingWaitMs } = commandLineLimits;
  const startedMs = performance.now();
  let noticed = false;
  for (;;) {
    const passedMs = performance.now() - startedMs;
    const state = await readServing(api);
    if (state === null) return;
    const later = state.target > before.target;
    if (!later && !state.publishing && passedMs > publishNoticeMs) return;
    // One that was under way before the change may come first: it does not hold the change.
    const published = later && !state.publishing;
    if (published && state.serves >= state.target) {
      if (noticed) output.note(`served after ${Math.round(passedMs / 1000)} s`);
      return;
    }
    if (published && state.failure !== '' && state.tried >= state.target) {
      output.note(`the node cannot serve the change: ${state.failure}`);
      return;
    }
    if (passedMs > servingWaitMs) {
      output.note('The change is not served yet. Check it with: waf agent state');
      return;
    }
    if (!noticed && passedMs > servingNoticeMs) {
      output.note('Saved. Compiling rules…');
      noticed = true;
    }
    await wait(servingPollMs);
  }
}
