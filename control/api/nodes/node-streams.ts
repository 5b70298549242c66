/** Which streams of nodes are open, so that they can be ended at once, with a reason. */

/** What a stream carries. */
export type StreamKind = 'agent' | 'evidence';

type End = (reason: string) => void;

/** Whose stream it is, and the hash of the token that it was admitted by. */
interface StreamOwner {
  readonly id: string;
  readonly tokenSha256: string;
}

/** Open streams by node; of each kind a node has one, and the newest counts. */
export class NodeStreams {
  readonly #open = new Map<string, Map<StreamKind, End>>();
  readonly #runs = new Map<string, string>();
  readonly #tokens = new Map<string, string>();
  readonly #deliver = new Map<string, () => void>();

  /** Enters a stream; one of the same kind ends. Returns the undo: true while it is the newest. */
  enter(node: StreamOwner, kind: StreamKind, end: End, runId = ''): () => boolean {
    const { id: nodeId, tokenSha256 } = node;
    this.#tokens.set(nodeId, tokenSha256);
    const streams = this.#open.get(nodeId) ?? new Map<StreamKind, End>();
    this.#open.set(nodeId, streams);
    streams.get(kind)?.('another stream of this node took its place');
    streams.set(kind, end);
    if (kind === 'agent') this.#runs.set(nodeId, runId);
    return () => {
      if (streams.get(kind) !== end) return false;
      streams.delete(kind);
      if (kind === 'agent') this.#runs.delete(nodeId);
      if (streams.size === 0 && this.#open.get(nodeId) === streams) this.#forget(nodeId);
      return true;
    };
  }

  /** Which run of a node has the open agent stream; '' where it did not say, or none is open. */
  runOf(nodeId: string): string {
    return this.#runs.get(nodeId) ?? '';
  }

  /** The token by which the open streams of a node were admitted, as a hash. */
  tokenOf(nodeId: string): string {
    return this.#tokens.get(nodeId) ?? '';
  }

  /** Says how a node is given its configuration again; returns the undo. */
  offer(nodeId: string, deliver: () => void): () => void {
    this.#deliver.set(nodeId, deliver);
    return () => {
      if (this.#deliver.get(nodeId) === deliver) this.#deliver.delete(nodeId);
    };
  }

  /** Gives one node its configuration again. */
  deliver(nodeId: string): void {
    this.#deliver.get(nodeId)?.();
  }

  /** Nodes with a stream. */
  nodeIds(): string[] {
    return [...this.#open.keys()];
  }

  /** Nodes with a stream, and streams by what they carry. */
  count(): { readonly nodes: number; readonly agent: number; readonly evidence: number } {
    const all = [...this.#open.values()];
    const of = (kind: StreamKind): number => all.filter((streams) => streams.has(kind)).length;
    return { nodes: all.length, agent: of('agent'), evidence: of('evidence') };
  }

  /** Ends every stream of a node. */
  end(nodeId: string, reason: string): void {
    const streams = this.#open.get(nodeId);
    this.#forget(nodeId);
    this.#runs.delete(nodeId);
    const ends = [...(streams?.values() ?? [])];
    streams?.clear();
    for (const end of ends) end(reason);
  }

  #forget(nodeId: string): void {
    this.#open.delete(nodeId);
    this.#tokens.delete(nodeId);
  }
}
