/** One test run: origin, bundle, engine, cases, report; everything is stopped at the end. */

import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  RuntimeBundleSchema,
  SignedRuntimeBundleSchema,
} from '../../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type { ListenerKind } from '../../../../base/listener.ts';
import { buildBundleFromManifest } from '../../../publish/manifests/manifest.ts';
import { generateKeyPem, readSigningKey, signBundle } from '../../../publish/signing.ts';
import type { ProgressView } from '../../../supervisor/progress.ts';
import type { TestCase } from './case.ts';
import { readInputText } from '../../input.ts';
import { startEngine } from './engine-under-test.ts';
import { testManifest } from './manifest.ts';
import { startOrigin } from './origin.ts';
import { runCases } from './run-cases.ts';
import { summarize, type RunReport } from './summary.ts';

/** How to run. */
export interface SessionOptions {
  readonly packageFolder: string;
  /** `crs-3.3.4` for the built-in one, or a folder. */
  readonly ruleset: string;
  /** Documents instead of the ones that CRS's tests assume; `{origin}` stands for the origin. */
  readonly policyFile: string | undefined;
  readonly paranoia: number;
  readonly blocking: boolean;
  readonly lanes: number;
  readonly timeoutMs: number;
  readonly listener: ListenerKind;
  readonly engineArgs: readonly string[];
  readonly logLevel: string;
  readonly progress: ProgressView;
}

/** Runs the cases. Errors: AppError of the bundle, the engine's start. */
export async function runAgainstEngine(
  cases: readonly TestCase[],
  options: SessionOptions,
): Promise<RunReport> {
  const { progress } = options;
  const origin = await startOrigin();
  try {
    const data = join(options.packageFolder, '.cache', 'crs-test');
    mkdirSync(data, { recursive: true });
    const engine = await startEngine({
      script: join(options.packageFolder, '.build', 'engine', 'main.js'),
      bundle: buildBundle(options, `http://127.0.0.1:${origin.port}`),
      data,
      extraArgs: [...options.engineArgs, '--listener', options.listener],
      logLevel: options.logLevel,
      onProgress: (what, done, total) => progress.show(what, done, total),
    });
    try {
      progress.finish();
      const results = await runCases(cases, {
        port: engine.port,
        events: engine.events,
        lanes: options.lanes,
        timeoutMs: options.timeoutMs,
        ownAddresses: options.listener === 'uws',
        onResult: (done) => progress.show('cases', done, cases.length),
      });
      progress.finish();
      return summarize(options.policyFile ?? options.ruleset, results);
    } finally {
      await engine.stop();
    }
  } finally {
    await origin.close();
  }
}

function buildBundle(options: SessionOptions, originUrl: string): Uint8Array {
  const { policyFile, ruleset } = options;
  if (policyFile !== undefined) {
    const text = readInputText(policyFile).replaceAll('{origin}', originUrl);
    return forAnyHost(buildBundleFromManifest(text, dirname(policyFile)).bytes);
  }
  const manifest = testManifest({
    rulesetFolder: ruleset === 'crs-3.3.4' ? null : resolve(ruleset),
    originUrl,
    paranoia: options.paranoia,
    blocking: options.blocking,
  });
  return forAnyHost(buildBundleFromManifest(manifest, process.cwd()).bytes);
}

/** Tests name many hosts, impossible ones and none: the first site answers for all. */
function forAnyHost(bytes: Uint8Array): Uint8Array {
  const { bundle } = fromBinary(SignedRuntimeBundleSchema, bytes);
  const content = fromBinary(RuntimeBundleSchema, bundle);
  const [site] = content.sites;
  if (site !== undefined) site.hosts = ['*'];
  const signed = signBundle(content, readSigningKey(generateKeyPem()));
  return toBinary(SignedRuntimeBundleSchema, signed);
}
