/** The changes of a record as rows: each setting with its value before and after. Pure. */

/** One setting that differs. */
export interface ChangedValue {
  /** Its path in the API, such as `crsCore.blockScore`. */
  readonly path: string;
  /** '' where it was not set. */
  readonly before: string;
  readonly after: string;
}

/** The settings under the changed paths that differ, in the order of the paths. */
export function changedValues(
  before: unknown,
  after: unknown,
  changedPaths: readonly string[],
): ChangedValue[] {
  return changedPaths.flatMap((path) => {
    const [was, is] = [at(before, path), at(after, path)].map((value) => leavesOf(value, path));
    const all = [...new Set([...was!.keys(), ...is!.keys()])];
    return all
      .map((one) => ({ path: one, before: was!.get(one) ?? '', after: is!.get(one) ?? '' }))
      .filter((row) => row.before !== row.after);
  });
}

function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (inner, name) =>
        typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined,
      value,
    );
}

/** The values within a value, by path; a list of plain values is one of them. */
function leavesOf(value: unknown, path: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const walk = (inner: unknown, where: string): void => {
    if (inner === undefined || inner === null) return;
    if (typeof inner !== 'object') found.set(where, String(inner as string | number | boolean));
    else if (Array.isArray(inner) && inner.every((one) => typeof one !== 'object')) {
      found.set(where, inner.join(', '));
    } else {
      const entries = Object.entries(inner);
      for (const [name, one] of entries) {
        walk(one, Array.isArray(inner) ? `${where}[${name}]` : `${where}.${name}`);
      }
    }
  };
  walk(value, path);
  return found;
}
