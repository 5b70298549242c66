/** Which operations of an API are off, observed or enforced after a command. Pure. */

import { badFlag } from '../input.ts';

/** What an operation does with a request that breaks a check. */
export type OperationMode = 'off' | 'observe' | 'enforce';

/** An operation as the compiled checks know it. */
export interface CompiledOperation {
  readonly key: string;
  readonly checked: number;
  readonly unchecked: number;
}

/** An operation with its mode before and after. */
export interface PlannedOperation extends CompiledOperation {
  readonly before: OperationMode;
  readonly after: OperationMode;
}

/** What the operator wants; '' keeps what is enforced and observes the rest. */
export interface WantedMode {
  readonly mode: '' | 'observe' | 'enforce';
  /** Operations that are checked in part may be enforced. */
  readonly partial: boolean;
  /** Keys that are meant. */
  readonly meant: ReadonlySet<string>;
}

/** Operations in order of their keys. What is enforced stays so unless `observe` is wanted. */
export function planModes(
  operations: readonly CompiledOperation[],
  modes: ReadonlyMap<string, OperationMode>,
  wanted: WantedMode,
): PlannedOperation[] {
  return operations
    .map((one) => {
      const before = modes.get(one.key) ?? 'off';
      const after = wanted.meant.has(one.key) ? modeAfter(one, before, wanted) : before;
      return { ...one, before, after };
    })
    .toSorted((one, other) => (one.key < other.key ? -1 : 1));
}

function modeAfter(
  { checked, unchecked }: CompiledOperation,
  before: OperationMode,
  { mode, partial }: WantedMode,
): OperationMode {
  if (checked === 0) return 'off';
  if (mode === 'observe') return 'observe';
  if (before === 'enforce') return 'enforce';
  return mode === 'enforce' && (unchecked === 0 || partial) ? 'enforce' : 'observe';
}

/**
 * Keys of the operations that are named: by key, or by method and path on every host; all that are
 * bound where none is named. Errors: AppError bad_flag for a name that no operation has.
 */
export function meantOperations(
  operations: readonly { readonly key: string; readonly mode: string }[],
  names: readonly string[],
): Set<string> {
  if (names.length === 0) {
    return new Set(operations.filter(({ mode }) => mode !== 'off').map(({ key }) => key));
  }
  return new Set(
    names.flatMap((name) => {
      const found = operations.filter(({ key }) => key === name || withoutHost(key) === name);
      if (found.length > 0) return found.map(({ key }) => key);
      const shown = JSON.stringify(name.slice(0, 128));
      throw badFlag(
        `${shown} is no operation of the API; name one as "POST /path". ` +
          'List them with: waf api status --site SITE',
      );
    }),
  );
}

/** `POST shop.example/v1/pets` without its host. */
function withoutHost(key: string): string {
  return key.replace(/^(\S+) [^/]*/, '$1 ');
}
