/** What a child tells its supervisor over the process channel. */

/** One message from control or the engine. */
export type ChildMessage =
  /** `port`: where an engine that was started by itself listens. */
  | { readonly type: 'ready'; readonly passwordFile?: string; readonly port?: number }
  | { readonly type: 'progress'; readonly done: number; readonly total: number; what: string }
  | { readonly type: 'fatal'; readonly message: string }
  /** An enrolled node reached its controller. */
  | { readonly type: 'connected' }
  /** An enrolled node placed another program and wants it started. */
  | { readonly type: 'staged' };

/** Reads a message; null for anything that is none of ours. */
export function readChildMessage(raw: unknown): ChildMessage | null {
  if (typeof raw !== 'object' || raw === null) return null;
  const fields = raw as Record<string, unknown>;
  switch (fields['type']) {
    case 'ready': {
      const { passwordFile, port } = fields;
      return {
        type: 'ready',
        ...(typeof passwordFile === 'string' ? { passwordFile } : {}),
        ...(typeof port === 'number' ? { port } : {}),
      };
    }
    case 'progress':
      return {
        type: 'progress',
        done: numberOr(fields['done'], 0),
        total: numberOr(fields['total'], 0),
        what: typeof fields['what'] === 'string' ? fields['what'] : '',
      };
    case 'fatal':
      return {
        type: 'fatal',
        message: typeof fields['message'] === 'string' ? fields['message'] : 'no reason given',
      };
    case 'connected':
    case 'staged':
      return { type: fields['type'] };
    default:
      return null;
  }
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}
