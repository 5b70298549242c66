/** What counts as used. Two kinds of files name packages in a language of their own. */

/** `require('…')` in binding.gyp, as an import. */
const gyp = (text) =>
  [...text.matchAll(/require\('([^']+)'\)/g)].map(([, name]) => `import '${name}';`).join('\n');

// Knip takes its configuration from the default export.
// oxlint-disable-next-line import/no-default-export
export default {
  entry: [
    'engine/main.ts',
    'engine/threads/{front,planner,pool}-thread.ts',
    'engine/threads/*-process.ts',
    'engine/simulate/seclang-test.ts',
    'control/main.ts',
    'control/publish/manifests/manifest-thread.ts',
    'control/release/pack-process.ts',
    'control/cli/main.ts',
    'control/console/main.tsx',
    'control/setup/{start,test,soak,check,waf,bench,package,compare-packages}.mjs',
    'bench/**/*.ts',
    'test/**/*.ts',
    'test/backends/servers/*.mjs',
    'native-bindings/index.ts',
    'native-bindings/find-libinjection.mjs',
    'binding.gyp',
  ],
  project: [
    'base/**/*.ts',
    'engine/**/*.ts',
    'control/**/*.{ts,tsx,mjs}',
    'native-bindings/**/*.{ts,mjs}',
    'bench/**/*.ts',
    'test/**/*.{ts,cjs}',
    'test/backends/servers/*.mjs',
    'binding.gyp',
  ],
  ignoreExportsUsedInFile: true,
  compilers: { gyp },
  // Debian's, and only where they are there.
  ignoreBinaries: [
    'cc',
    'dpkg-deb',
    'go',
    'ldd',
    'nginx',
    'objdump',
    'pebble',
    'pebble-challtestsrv',
    'php',
    'promtool',
    'systemd-analyze',
    'useradd',
    'redis-server',
    'sqlite3',
  ],
  buf: { config: ['proto/buf.gen.yaml'] },
};
