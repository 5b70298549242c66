/**
 * The programs' entries in .build: each becomes one file with all that it imports, and pieces that
 * several share. A program of 1,400 files spends two seconds of CPU on finding and opening them; of
 * some twenty, a third of that. The other compiled files stay for tests and benchmarks.
 */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { hashStats, inRoot, listFiles, readStamp, root, writeStamp } from './paths.mjs';
import { say, SetupError } from './process.mjs';

/** What a process or a thread starts with. */
export const entries = [
  'control/cli/main',
  'control/documents/document-thread',
  'control/main',
  'control/observe/events/scan-thread',
  'control/publish/manifests/manifest-thread',
  'control/release/pack-process',
  'engine/main',
  'engine/simulate/seclang-test',
  'engine/threads/front-thread',
  'engine/threads/planner-thread',
  'engine/threads/pool-thread',
  'engine/threads/rule-set-process',
  'engine/threads/trial-process',
];

/** Packages that stay in node_modules. */
const external = [
  // They have native parts or files of their own.
  ...['@node-rs/argon2', '@seriousme/openapi-schema-validator'],
  ...['lmdb', 'piscina', 'uWebSockets.js'],
  // They are CommonJS or large, and imported where somebody uses them, not at a start.
  ...['@clickhouse/client', '@modelcontextprotocol/sdk', '@node-saml/node-saml'],
  ...['@redis/client', 'nodemailer', 'pg'],
];
/**
 * Its modules are one file; its CommonJS form loads a hundred, for a second of CPU. What imports it
 * must be joined, too: two copies of what it keeps metadata with do not get along.
 */
const alias = { '@peculiar/x509': '@peculiar/x509/build/x509.es.js' };

const folder = inRoot('.build');
const pieces = inRoot('.build', 'pieces');
/** In .build: the files that the programs consist of, which a package takes. */
const programList = 'programs.json';
const isSource = (name) => /(?<!\.d|\.test)\.ts$/.test(name);

/** Brings the entries up to date. Errors: SetupError with the bundler's messages. */
export async function ensureBundles() {
  const folders = ['base', 'engine', 'control', 'native-bindings', 'proto'];
  const stamp = hashStats([
    ...folders.flatMap((name) => listFiles(inRoot(name), isSource)),
    inRoot('package-lock.json'),
    inRoot('control', 'setup', 'bundle.mjs'),
  ]);
  const made = entries.every((name) => existsSync(inRoot('.build', `${name}.js`)));
  if (made && readStamp('bundle') === stamp && existsSync(pieces)) return;
  say('TypeScript: joining the files of each program');
  const files = await joinPrograms(entries, inRoot('.'));
  rmSync(pieces, { recursive: true, force: true });
  for (const { path, contents } of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
  const names = files.map(({ path }) => relative(folder, path).split(sep).join('/'));
  writeFileSync(
    inRoot('.build', programList),
    JSON.stringify(names.toSorted((left, right) => (left < right ? -1 : 1))),
  );
  writeStamp('bundle', stamp);
}

/**
 * The files of the programs that begin with `names`, sources in `source` without their ending, as
 * they belong into .build. Errors: SetupError with the bundler's messages.
 */
export async function joinPrograms(names, source) {
  const { build } = await import('esbuild');
  const result = await build({
    entryPoints: Object.fromEntries(names.map((name) => [name, join(source, `${name}.ts`)])),
    outdir: folder,
    write: false,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    chunkNames: 'pieces/[name]-[hash]',
    external,
    alias,
    // Packages that are CommonJS ask for modules of Node.
    banner: {
      js: [
        "import { createRequire as requireOf } from 'node:module';",
        'const require = requireOf(import.meta.url);',
      ].join('\n'),
    },
    plugins: [ownPlaces],
    legalComments: 'none',
    logLevel: 'silent',
    absWorkingDir: root,
    metafile: true,
  }).catch((error) => {
    throw new SetupError(`the programs cannot be joined:\n${error.message}`);
  });
  refuseNamelessImports(result.metafile);
  refuseFileReaders(result.metafile);
  return result.outputFiles;
}

/** Joined, CommonJS has no named exports for those who import it while they run. */
function refuseNamelessImports({ inputs }) {
  for (const [name, { imports }] of Object.entries(inputs)) {
    for (const { kind, path, external: stays } of imports) {
      if (kind !== 'dynamic-import' || stays || inputs[path].format !== 'cjs') continue;
      throw new SetupError(
        `${name} imports ${path} while it runs, which is CommonJS: import it at the top, ` +
          'or name its package among the external ones of control/setup/bundle.mjs',
      );
    }
  }
}

/** Joined, a package no longer finds files that lie beside its modules. */
function refuseFileReaders({ inputs }) {
  for (const name of Object.keys(inputs).filter((one) => one.includes('node_modules/'))) {
    const code = readFileSync(inRoot(name), 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
    const found = readsBeside.exec(code)?.[0];
    if (found === undefined) continue;
    throw new SetupError(
      `${name} finds files by ${found}: name its package among the external ones of ` +
        'control/setup/bundle.mjs',
    );
  }
}

const readsBeside = /\b__dirname\b|\b__filename\b|\bimport\.meta\.\w+|\brequire\.resolve\b/;

/** The last `.build` of a path, and what follows. */
const fromBuild = String(/\/\.build\/(?!.*\/\.build\/).*/);

/** Files and threads are found from where the module itself is compiled to, not from its piece. */
const ownPlaces = {
  name: 'own-places',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/](?:base|engine|control|native-bindings)[\\/].*\.ts$/ }, ({ path }) => {
      if (path.includes(`${sep}node_modules${sep}`)) return null;
      const source = readFileSync(path, 'utf8');
      if (!source.includes('import.meta.url')) return null;
      const name = relative(root, path).replace(/\.ts$/, '.js').split(sep).join('/');
      const place = `(import.meta.url.replace(${fromBuild}, '/.build/${name}'))`;
      return { contents: source.replaceAll('import.meta.url', place), loader: 'ts' };
    });
  },
};
