/**
 * The bed finds what it is for: the multipart reader gets back its old fault, that a part is a file
 * as soon as it names one in any spelling, and the bed must tell.
 */

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type * as Dispositions from '../../engine/base/multipart-disposition.ts';
import { missingBuild } from '../support/product.ts';
import { type Backends, startBackends } from './backends.ts';
import { compareAll, runBed, startInspectors } from './bed.ts';
import type { InspectedUnder } from './inspected.ts';
import { namedCases } from './named-cases.ts';

const timeoutMs = 15 * 60_000;
const seed = 20_261_121;

vi.mock(import('../../engine/base/multipart-disposition.ts'), async (original) => {
  const actual: typeof Dispositions = await original();
  const readDisposition: typeof actual.readDisposition = (value) => {
    const found = actual.readDisposition(value);
    const named = found.fileName !== '' || found.extendedFileName !== '';
    return { ...found, kind: named ? 'file' : 'field', otherNames: [] };
  };
  return { ...actual, readDisposition };
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

  test('is found among the named spellings, by Express and by what else is here', async () => {
    const { differences } = await compareAll(namedCases, backends.list, inspectors);
    const finders = new Set(differences.map((line) => line.split(',')[0]));
    expect([...finders]).toContain('Express with multer');
    if (!backends.missing.includes('PHP')) expect([...finders]).toContain('PHP');
  });

  test('is found among drawn bodies', async () => {
    const result = await runBed('multipart', seed, 1_000, backends.list, inspectors);
    expect(result.differences.length).toBeGreaterThan(0);
  });
});
