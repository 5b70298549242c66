/** Finds compiled addons in the folders above the file that runs, and loads them. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** File names of the addons that binding.gyp builds. */
export type AddonName = 'waf_native' | 'waf_listen' | 'waf_files' | 'waf_re2';

/** Where an addon lies; null where it is not built. */
export function findAddon(name: AddonName): string | null {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const file = join(folder, relativePath(name));
    if (existsSync(file)) return file;
    if (dirname(folder) === folder) return null;
  }
}

/** Where an addon lies. Errors: code `native_addon_missing` where it is not built. */
export function requireAddonFile(name: AddonName): string {
  const file = findAddon(name);
  if (file !== null) return file;
  const message = `the native addon ${relativePath(name)} is not built; run: npm start`;
  throw Object.assign(new Error(message), { code: 'native_addon_missing' });
}

/** What the addon of a file exports, loaded once for each thread. */
export function loadAddonFile<T>(file: string): T {
  return createRequire(import.meta.url)(file) as T;
}

function relativePath(name: AddonName): string {
  return join('build', 'Release', `${name}.node`);
}
