/** Which fields a document names: what it does not name is not changed. */

/**
 * Paths of the values of a document, names joined by dots. A list is one value, and so is null; an
 * empty object names nothing.
 */
export function leafPaths(document: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(document).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? leafPaths(value as Readonly<Record<string, unknown>>).map((path) => `${name}.${path}`)
      : [name],
  );
}
