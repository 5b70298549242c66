/**
 * The answers that nodes give to authorities over HTTP. A token is sent to every node that is
 * connected, and to those that connect while it counts; in memory, for as long as an order runs.
 */

import { AppError } from '../../base/errors.ts';
import { acmeLimits } from '../limits/acme-limits.ts';

/** Tells one node; an empty key authorization takes the token back. */
export type TellNode = (token: string, keyAuthorization: string) => void;

interface Waiting {
  readonly nodes: Set<string>;
  readonly done: (error: AppError | null) => void;
}

/** What is answered now, and which nodes have it. */
export class ChallengeBoard {
  private readonly active = new Map<string, string>();
  private readonly nodes = new Map<string, TellNode>();
  private readonly waiting = new Map<string, Waiting>();

  /** A node connected; returns the undo. */
  join(nodeId: string, tell: TellNode): () => void {
    this.nodes.set(nodeId, tell);
    for (const [token, keyAuthorization] of this.active) tell(token, keyAuthorization);
    return () => {
      if (this.nodes.get(nodeId) === tell) this.nodes.delete(nodeId);
      // One that is gone says no more; others may be asked in its place.
      for (const token of this.waiting.keys()) this.answered(nodeId, token, '');
    };
  }

  /** Resolves when every connected node answers for the token. Errors: AppError acme_nodes. */
  async publish(token: string, keyAuthorization: string): Promise<void> {
    if (this.nodes.size === 0) throw failed('no node is connected that could answer');
    this.active.set(token, keyAuthorization);
    await new Promise<void>((resolve, reject) => {
      const late = (): void => done(failed('a node did not answer in time'));
      const timer = setTimeout(late, acmeLimits.nodesTimeoutMs).unref();
      const done = (error: AppError | null): void => {
        clearTimeout(timer);
        this.waiting.delete(token);
        if (error === null) resolve();
        else reject(error);
      };
      this.waiting.set(token, { nodes: new Set(this.nodes.keys()), done });
      for (const tell of this.nodes.values()) tell(token, keyAuthorization);
    });
  }

  /** A node says whether it answers for a token; `error` is empty when it does. */
  answered(nodeId: string, token: string, error: string): void {
    const waiting = this.waiting.get(token);
    if (waiting?.nodes.delete(nodeId) !== true) return;
    if (error !== '') waiting.done(failed(`node ${nodeId}: ${error.slice(0, 200)}`));
    else if (waiting.nodes.size === 0) waiting.done(null);
  }

  /** The authority has decided. */
  withdraw(token: string): void {
    if (!this.active.delete(token)) return;
    for (const tell of this.nodes.values()) tell(token, '');
  }
}

function failed(why: string): AppError {
  const message = `the proof could not be put in place: ${why}`;
  return new AppError('acme_nodes', message, { source: 'internal', retryable: true });
}
