/**
 * The collections of variables whose entries hold values under names that clients gave them, in
 * lower case: by the collection that rules mostly name, all that hold the same values.
 */

const collections = {
  args: ['args', 'args_get', 'args_post', 'args_path', 'args_renamed'],
  request_headers: ['request_headers', 'request_headers_renamed'],
  request_cookies: ['request_cookies', 'request_cookies_renamed'],
  files: ['files'],
} as const;

/** All of them. */
export const clientCollections: readonly string[] = Object.values(collections).flat();

const usual: ReadonlyMap<string, string> = new Map(
  Object.entries(collections).flatMap(([name, all]) => all.map((one) => [one, name] as const)),
);

/** A variable in lower case under its usual collection: `ARGS_GET:Q` is `args:q`. */
export function usualName(variable: string): string {
  const name = variable.toLowerCase();
  const colon = name.indexOf(':');
  const collection = usual.get(name.slice(0, Math.max(0, colon)));
  return collection === undefined ? name : `${collection}${name.slice(colon)}`;
}
