/**
 * Running products that test files of one process use one after the other: a start costs 14 s of
 * CPU. What a file made is removed when it gives the product back. A product that then exports
 * anything else than at its start is stopped, and the next file gets a new one.
 */

import { adminCall } from './admin-call.ts';
import { startProduct, type Product } from './product.ts';
import { noteProduct } from './run-folder.ts';

interface Waiting {
  readonly product: Product;
  /** What it exported right after its start. */
  readonly atStart: string;
  /** Ids of the resources that it came with. */
  readonly own: ReadonlySet<string>;
}

/** By their arguments. Files that share a process share this module. */
const waiting = new Map<string, Waiting>();

/** Kinds of resources in the order in which they can be deleted: first those that name others. */
const kinds = [
  ['SiteService', 'Site'],
  ['AlertService', 'AlertRule'],
  ['AlertService', 'AlertChannel'],
  ['PolicyService', 'Policy', 'Policies'],
  ['UpstreamService', 'Upstream'],
  ['IpListService', 'IpList'],
  ['CertService', 'Cert'],
] as const;

/**
 * A product that was started with these arguments, as if it had just started. Its `stop` gives it
 * back; `output` is what it printed since it was borrowed. Only for files that neither end nor
 * replace its processes. Errors: those of a start.
 */
export async function borrowProduct(...args: string[]): Promise<Product> {
  const key = args.join(' ');
  const { product, atStart, own } = waiting.get(key) ?? (await start(args));
  waiting.delete(key);
  const printed = product.output().length;
  return {
    ...product,
    output: () => product.output().slice(printed),
    stop: async () => {
      await restore(product, own);
      const now = await exportAll(product);
      if (now === atStart) {
        waiting.set(key, { product, atStart, own });
        return 0;
      }
      const before = atStart.split('\n');
      const other = now.split('\n').find((line, at) => line !== before[at]);
      console.log(`the product is not shared any more; it exports: ${other}`);
      return product.stop();
    },
  };
}

async function start(args: readonly string[]): Promise<Waiting> {
  const product = await startProduct(...args);
  noteProduct(product.pid);
  const own = (await listed(product.data)).map(({ id }) => id);
  return { product, atStart: await exportAll(product), own: new Set(own) };
}

/** Everything that is set, and the log policy, which no manifest holds. */
async function exportAll({ data, waf }: Product): Promise<string> {
  const { code, stdout, stderr } = waf('export');
  if (code !== 0) throw new Error(`waf export: ${stderr}`);
  const { body } = await adminCall(data, 'LogService/GetGlobalLogPolicy', {});
  return `${stdout}\n${JSON.stringify(body['policy'])}`;
}

/** Removes what was made, and gives every setting its standard value. */
async function restore({ data, waf }: Product, own: ReadonlySet<string>): Promise<void> {
  waf('trust', 'reset');
  const { body } = await adminCall(data, 'SystemService/GetSystemSettings', {});
  const { sources = {} } = body['settings'] as { sources?: Record<string, string> };
  const stored = Object.keys(sources).filter((setting) => sources[setting] === 'stored');
  const values = stored.flatMap((setting) => ['--set', `${setting}=null`]);
  if (values.length > 0) waf('system', 'settings-set', ...values);
  for (const { id, remove } of await listed(data)) {
    // What cannot be deleted shows in the export.
    if (!own.has(id)) await adminCall(data, remove, { id });
  }
}

/** Every resource, with the call that deletes it, in the order of `kinds`. */
async function listed(data: string): Promise<{ id: string; remove: string }[]> {
  const found: { id: string; remove: string }[] = [];
  for (const [service, one, several = `${one}s`] of kinds) {
    const { body } = await adminCall(data, `${service}/List${several}`, {});
    const items = (body['items'] ?? []) as { id: string }[];
    for (const { id } of items) found.push({ id, remove: `${service}/Delete${one}` });
  }
  return found;
}
