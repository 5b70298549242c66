/**
 * The bed finds a Content-Type line that is read by one idea of boundaries only: the reader takes
 * the last parameter that looks like one, and the bed must tell.
 */

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type * as ContentTypes from '../../engine/base/multipart-content-type.ts';
import { missingBuild } from '../support/product.ts';
import { type Backends, startBackends } from './backends.ts';
import { runBed, startInspectors } from './bed.ts';
import type { InspectedUnder } from './inspected.ts';

const timeoutMs = 15 * 60_000;
const seed = 20_261_126;

vi.mock(import('../../engine/base/multipart-content-type.ts'), async (original) => {
  const actual: typeof ContentTypes = await original();
  const readAlike: typeof actual.readAlike = (contentType) => {
    const found = /.*boundary="?([^";,]+)/i.exec(contentType);
    return found === null ? { kind: 'unknown' } : { kind: 'boundary', boundary: found[1]! };
  };
  return { ...actual, readAlike };
});

describe.skipIf(missingBuild !== null)('a planted fault', { timeout: timeoutMs }, () => {
  let backends: Backends;
  let inspectors: Map<string, InspectedUnder>;

  beforeAll(async () => {
    inspectors = await startInspectors();
    backends = await startBackends();
  }, timeoutMs);
  afterAll(async () => {
    await backends?.close();
    for (const inspector of inspectors?.values() ?? []) inspector.close();
  });

  test('in reading Content-Type lines is found', async () => {
    const result = await runBed('content type', seed, 500, backends.list, inspectors);
    expect(result.differences.length).toBeGreaterThan(0);
  });
});
