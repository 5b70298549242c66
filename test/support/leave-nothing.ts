/**
 * Takes back, after each test file, what its tests changed for the whole process: the next file may
 * run in the same one.
 */

import { afterAll, vi } from 'vitest';

const environment = { ...process.env };

// Registered before all hooks of the file, it runs after them.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  for (const name of Object.keys(process.env)) {
    if (!(name in environment)) delete process.env[name];
  }
  Object.assign(process.env, environment);
});
