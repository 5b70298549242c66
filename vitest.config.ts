/** How the test runner finds and runs tests; holds no test logic. */

import { defineConfig } from 'vitest/config';
import { compiledProduct } from './test/support/compiled-product.ts';
import { HeavyFirst } from './test/support/heavy-first.ts';
import { replacesModules } from './test/support/replaces-modules.ts';
import { ownProcesses, sharesProducts } from './test/support/shares-products.ts';

const none = ['**/node_modules/**', '.build/**', '.cache/**', 'build/**', 'var/**'];

export default defineConfig({
  test: {
    pool: 'forks',
    // One more than the two cores that the run is made for: a fifth of it waits for events.
    maxWorkers: 3,
    // They end a test that hangs, on however slow a machine; no test depends on them.
    testTimeout: 600_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 120_000 } },
    passWithNoTests: false,
    sequence: { sequencer: HeavyFirst },
    globalSetup: ['control/setup/compile-first.mjs', 'test/support/run-folder.ts'],
    setupFiles: [
      'test/support/processor-time.ts',
      'test/support/seeds.ts',
      'test/support/leave-nothing.ts',
    ],
    server: { deps: { external: [/\/\.build\//] } },
    projects: [
      {
        extends: true,
        plugins: [compiledProduct()],
        test: {
          name: 'units',
          include: ['**/*.test.ts'],
          exclude: [...none, 'test/**', ...replacesModules, ...ownProcesses],
          isolate: false,
        },
      },
      {
        extends: true,
        plugins: [compiledProduct()],
        test: {
          name: 'rooms together',
          include: ['test/**/*.test.ts'],
          exclude: [...none, ...replacesModules, ...ownProcesses, ...sharesProducts],
          isolate: false,
        },
      },
      {
        extends: true,
        plugins: [compiledProduct()],
        test: { name: 'own processes', include: ownProcesses, exclude: none },
      },
      {
        extends: true,
        plugins: [compiledProduct()],
        test: { name: 'shared products', include: sharesProducts, exclude: none, isolate: false },
      },
      {
        extends: true,
        test: { name: 'replaced modules', include: replacesModules, exclude: none },
      },
    ],
  },
});
