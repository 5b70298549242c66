/** Owns how the test runner finds and runs tests; holds no test logic. */

import { defineConfig } from 'vitest/config';
import { HeavyFirst } from './test/support/heavy-first.ts';

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['**/node_modules/**', '.build/**', '.cache/**', 'build/**', 'var/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    passWithNoTests: false,
    sequence: { sequencer: HeavyFirst },
    globalSetup: ['test/support/run-folder.ts'],
    setupFiles: ['test/support/seeds.ts'],
  },
});
