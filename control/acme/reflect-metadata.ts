/**
 * The four functions of the metadata proposal that the certificate library expects on `Reflect`
 * when it is loaded. Adds the missing ones and replaces nothing.
 */

type Target = object;
const kept = new WeakMap<Target, Map<unknown, unknown>>();

function define(key: unknown, value: unknown, target: Target): void {
  const own = kept.get(target) ?? new Map<unknown, unknown>();
  own.set(key, value);
  kept.set(target, own);
}

function getOwn(key: unknown, target: Target): unknown {
  return kept.get(target)?.get(key);
}

/** Looks up the chain of prototypes, as inherited metadata is found. */
function get(key: unknown, target: Target): unknown {
  for (let one: Target | null = target; one !== null; one = Object.getPrototypeOf(one) as Target) {
    const found = getOwn(key, one);
    if (found !== undefined) return found;
  }
  return undefined;
}

const decorate =
  (key: unknown, value: unknown) =>
  (target: Target): void =>
    define(key, value, target);

/** Adds the functions where `Reflect` lacks them. */
export function addReflectMetadata(): void {
  const functions = {
    defineMetadata: define,
    getOwnMetadata: getOwn,
    getMetadata: get,
    metadata: decorate,
  };
  for (const [name, value] of Object.entries(functions)) {
    if (name in Reflect) continue;
    Object.defineProperty(Reflect, name, { value, configurable: true, writable: true });
  }
}
