/**
 * The build of the console's pages: one entry, a chunk for each page, hashed names, and both
 * compressed forms beside each file. Never runs in a serving process.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { hashStats, inRoot, listFiles, readStamp, writeStamp } from './paths.mjs';
import { say, SetupError } from './process.mjs';

const isPart = (name) => /\.(tsx?|css|html|svg)$/.test(name) && !/\.test\.tsx?$/.test(name);

/** Brings .build/console up to date. Errors: SetupError with the bundler's messages. */
export async function ensureConsole() {
  const sources = [
    ...listFiles(inRoot('control', 'console'), isPart),
    ...listFiles(inRoot('proto', 'gen'), isPart),
    inRoot('package-lock.json'),
    inRoot('control', 'setup', 'console.mjs'),
  ];
  const stamp = hashStats(sources);
  // Compiling empties .build when a source was added or deleted.
  const built = existsSync(inRoot('.build', 'console', 'index.html'));
  if (built && readStamp('console') === stamp) return;
  say('console: building its pages');
  await buildConsole(inRoot('.build', 'console'));
  writeStamp('console', stamp);
}

/** Builds the pages into `folder`, which is emptied first. Errors: SetupError. */
export async function buildConsole(folder) {
  const { build } = await import('esbuild');
  const result = await build({
    entryPoints: { main: inRoot('control', 'console', 'main.tsx') },
    outdir: folder,
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    plugins: [plainDescriptors, operationRights],
    logLevel: 'silent',
    metafile: true,
    absWorkingDir: inRoot('.'),
  }).catch((error) => {
    throw new SetupError(`the console's pages do not build:\n${error.message}`);
  });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const names = [];
  for (const { path, contents } of result.outputFiles) {
    const name = path.slice(folder.length + 1);
    names.push(name);
    writeBoth(folder, name, contents);
  }
  const icon = readFileSync(inRoot('control', 'console', 'icon.svg'));
  const iconName = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`;
  writeBoth(folder, iconName, icon);
  const start = names.find((name) => /^main-\w+\.js$/.test(name));
  const html = readFileSync(inRoot('control', 'console', 'index.html'), 'utf8')
    .replace('icon.svg', iconName)
    .replace(
      'main.css',
      names.find((name) => /^main-\w+\.css$/.test(name)),
    )
    .replace('main.js', start)
    .replace('</head>', `${preloads(result.metafile, start)}</head>`);
  writeBoth(folder, 'index.html', Buffer.from(html));
}

/** Files that the entry imports: a browser that waits for the entry first asks for them late. */
function preloads({ outputs }, start) {
  const byName = new Map(Object.entries(outputs).map(([path, one]) => [basename(path), one]));
  const found = new Set();
  const add = (name) => {
    for (const { path, kind } of byName.get(name)?.imports ?? []) {
      const next = basename(path);
      if (kind !== 'import-statement' || found.has(next)) continue;
      found.add(next);
      add(next);
    }
  };
  add(start);
  if (found.size === 0) throw new SetupError('the start of the console imports no file');
  return [...found]
    .map((name) => `  <link rel="modulepreload" href="/assets/${name}" />\n  `)
    .join('');
}

function writeBoth(folder, name, contents) {
  writeFileSync(join(folder, name), contents);
  writeFileSync(join(folder, `${name}.gz`), gzipSync(contents, { level: 9 }));
  writeFileSync(join(folder, `${name}.br`), brotliCompressSync(contents));
}

/**
 * Takes the rules of checks and the permissions out of the generated descriptors: the server checks
 * both, and they are half of the bytes.
 */
const plainDescriptors = {
  name: 'plain-descriptors',
  setup(build) {
    build.onLoad({ filter: /proto[\\/]gen[\\/]waf[\\/].*_pb\.ts$/ }, async ({ path }) => {
      const source = readFileSync(path, 'utf8');
      return { contents: await withoutOptions(source), loader: 'ts' };
    });
  },
};

/** Fills `operation-rights.ts`: the descriptors of pages have no options. */
const operationRights = {
  name: 'operation-rights',
  setup(build) {
    build.onLoad({ filter: /pages[\\/]operation-rights\.ts$/ }, async () => {
      const rights = JSON.stringify(await readRights());
      return { contents: `export const operationRights = ${rights};`, loader: 'js' };
    });
  },
};

async function readRights() {
  const folder = inRoot('.build', 'proto', 'gen', 'waf');
  const { getOption } = await import('@bufbuild/protobuf');
  const { authorization } = await import(join(folder, 'v1', 'options_pb.js'));
  const files = listFiles(folder, (name) => name.endsWith('_pb.js'));
  const modules = await Promise.all(files.map((file) => import(file)));
  const services = modules.flatMap(Object.values).filter(({ kind }) => kind === 'service');
  const rows = services.flatMap(({ typeName, methods }) =>
    methods.map((method) => {
      const { anyPermission: any, allPermission: all } = getOption(method, authorization);
      return [`${typeName}/${method.name}`, { any, all }];
    }),
  );
  return Object.fromEntries(rows);
}

const checkImports = ['file_buf_validate_validate', 'file_waf_v1_options'];

async function withoutOptions(source) {
  const { fromBinary, toBinary } = await import('@bufbuild/protobuf');
  const { FileDescriptorProtoSchema } = await import('@bufbuild/protobuf/wkt');
  return source.replace(/fileDesc\("([^"]+)"(?:, \[([^\]]*)\])?\)/, (_, encoded, imports = '') => {
    const file = fromBinary(FileDescriptorProtoSchema, Buffer.from(encoded, 'base64'));
    for (const message of file.messageType) clearMessage(message);
    for (const service of file.service) {
      for (const method of service.method) method.options = undefined;
    }
    file.extension = [];
    const kept = imports
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && !checkImports.includes(name));
    const bytes = Buffer.from(toBinary(FileDescriptorProtoSchema, file)).toString('base64');
    return `fileDesc("${bytes}", [${kept.join(', ')}])`;
  });
}

/** An option marks the entries of a map; all other options are for checks. */
function clearMessage(message) {
  if (message.options?.mapEntry !== true) message.options = undefined;
  for (const field of message.field) field.options = undefined;
  for (const inner of message.nestedType) clearMessage(inner);
}
