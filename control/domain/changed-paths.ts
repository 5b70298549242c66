/** Names what differs between two states of a record. */

const pathsMax = 500;

/** JSON paths whose values differ, in order; lists are compared as a whole. */
export function changedPaths(before: unknown, after: unknown): string[] {
  const paths: string[] = [];
  compare(before, after, '', paths);
  return paths.slice(0, pathsMax);
}

function compare(before: unknown, after: unknown, path: string, paths: string[]): void {
  if (isRecord(before) && isRecord(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    for (const name of names) {
      compare(before[name], after[name], path === '' ? name : `${path}.${name}`, paths);
    }
    return;
  }
  if (JSON.stringify(before) !== JSON.stringify(after) && path !== '') paths.push(path);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
