/**
 * What a run of attacks through a live proxy needs: where corpus and rule set lie, whether it is
 * possible at all, and a proxy under the built-in template Standard.
 */

import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import {
  startEngine,
  type EngineUnderTest,
} from '../../control/cli/policy/crs-test/engine-under-test.ts';
import { startOrigin } from '../../control/cli/policy/crs-test/origin.ts';
import { buildBundleFromManifest } from '../../control/publish/manifests/manifest.ts';
import { corpusRoot } from '../seclang/corpus.ts';
import { compileAlone, lastingData } from '../support/databases.ts';
import { missingBuild, root } from '../support/product.ts';

/** The folder of CRS 4.28.0. */
export const crs4Folder = path.join(corpusRoot, 'crs/4.28.0');

/** The file of a corpus, or null (and a line that says why) where it or the build is missing. */
export function findCorpus(name: string, ruleset: string): string | null {
  const file = path.join(corpusRoot, 'corpus', name);
  const reason = existsSync(file) && existsSync(ruleset) ? missingBuild : 'skipped: no corpus';
  if (reason === null) return file;
  console.log(`${reason} (${name})`);
  return null;
}

/** A proxy before an origin that answers everything with 200. */
export interface LiveProxy {
  readonly engine: EngineUnderTest;
  close(): Promise<void>;
}

/** Starts it under Standard with CRS 4.28 at a paranoia level, blocking. */
export async function startStandard(paranoia: number): Promise<LiveProxy> {
  mkdirSync(lastingData, { recursive: true });
  const origin = await startOrigin();
  const level = { blockingParanoiaLevel: paranoia, detectionParanoiaLevel: paranoia };
  const documents = [
    {
      kind: 'Site',
      spec: {
        primaryHost: 'localhost',
        upstreams: [{ url: `http://127.0.0.1:${origin.port}`, weight: 1 }],
        policyRef: 'standard',
      },
    },
    {
      kind: 'Policy',
      spec: { ruleset: { path: crs4Folder }, template: 'standard', crsCore: level },
    },
  ].map((one) => ({ apiVersion: 'waf.io/v1', metadata: { name: 'standard' }, ...one }));
  const manifest = documents.map((one) => JSON.stringify(one)).join('\n---\n');
  const engine = await compileAlone('template-standard CRS 4.28.0', () =>
    startEngine({
      script: path.join(root, '.build', 'engine', 'main.js'),
      bundle: buildBundleFromManifest(manifest, root).bytes,
      data: lastingData,
      extraArgs: ['--workers', '1'],
      logLevel: 'error',
      onProgress: () => undefined,
    }),
  ).catch(async (error: unknown) => {
    await origin.close();
    throw error;
  });
  const close = async (): Promise<void> => {
    await engine.stop();
    await origin.close();
  };
  return { engine, close };
}
