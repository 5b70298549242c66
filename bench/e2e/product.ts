/**
 * This project's own proxy as a target: writes a bundle with the same rule text that the other WAFs
 * read, and starts the engine on it. Uses no control process.
 */

import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { memoryFlags } from '../../control/supervisor/memory-flags.ts';
import type { ListenerKind } from '../../base/listener.ts';
import {
  RuntimeBundleSchema,
  SignedRuntimeBundleSchema,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { startServer, type Started } from './child-process.ts';
import { probeFolderVariable } from './pauses.ts';
import { policyFiles, policyText, type Ruleset } from './ruleset.ts';
import type { Surroundings } from './target.ts';

/** How the engine is started. */
export interface ProductOptions {
  /** Compiled engine/main.js. */
  readonly engineFile: string;
  /** Null: the WAF is off. */
  readonly ruleset: Ruleset | null;
  readonly inspection: string;
  readonly listener: ListenerKind;
  /** Compiled databases stay here between runs; all targets share them. */
  readonly databaseFolder: string;
  /** Preloads the probe of pauses into its threads. */
  readonly pauses: boolean;
  /** Serves the place's host over TLS on its port; left out: any host over plain HTTP. */
  readonly secure?: SecureSite;
}

/** How a site is served over TLS. */
export interface SecureSite {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
  /** Where plain HTTP is taken. */
  readonly plainPort: number;
}

/** A cold start compiles rule databases. */
const readyTimeoutMs = 300_000;

/** Starts the engine alone on a bundle made for this run. */
export function startProduct(place: Surroundings, options: ProductOptions): Promise<Started> {
  const { folder, port, workers, prefix } = place;
  const bundle = join(folder, 'site.bundle');
  writeFileSync(bundle, buildBundle(place, options));
  const data = join(folder, 'data');
  mkdirSync(join(data, 'engine'), { recursive: true });
  mkdirSync(options.databaseFolder, { recursive: true });
  symlinkSync(options.databaseFolder, join(data, 'engine', 'databases'));
  const flags = {
    bundle,
    listen: `127.0.0.1:${options.secure?.plainPort ?? port}`,
    ...(options.secure === undefined ? {} : { 'https-listen': `127.0.0.1:${port}` }),
    data,
    workers: String(workers),
    inspection: options.inspection,
    listener: options.listener,
    'log-level': 'warn',
  };
  return startServer({
    command: [
      ...[...prefix, process.execPath, ...memoryFlags.engine, options.engineFile],
      ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]),
    ],
    cwd: folder,
    logFile: join(folder, 'output.log'),
    port,
    readyTimeoutMs,
    ...(options.pauses ? { env: probeEnvironment(folder) } : {}),
  });
}

function probeEnvironment(folder: string): Readonly<Record<string, string>> {
  const probe = new URL('pause-probe.js', import.meta.url).href;
  return { NODE_OPTIONS: `--import ${probe}`, [probeFolderVariable]: join(folder, 'pauses') };
}

/** One site in front of the origin: for any host, over TLS for the place's host. */
function buildBundle(
  { originPort, folder, host }: Surroundings,
  { ruleset, secure }: ProductOptions,
): Uint8Array {
  const tls = { certificateId: 'certificate', minMinorVersion: 2, httpBehavior: 'both' };
  const waf = ruleset === null ? {} : { wafEnabled: true, policyId: 'policy' };
  const policies = ruleset === null ? [] : [policyOf(ruleset, folder)];
  const bundle = toBinary(
    RuntimeBundleSchema,
    create(RuntimeBundleSchema, {
      formatVersion: 1,
      id: 'bench',
      revision: 1n,
      createdAtMs: BigInt(Date.now()),
      sites: [
        {
          ...{ id: 'site', name: 'bench', upstreamId: 'origin', ...waf },
          ...(secure === undefined ? { hosts: ['*'] } : { hosts: [host], tls }),
        },
      ],
      certificates: secure === undefined ? [] : [certificateOf(secure)],
      upstreams: [
        { id: 'origin', endpoints: [{ host: '127.0.0.1', port: originPort, weight: 1 }] },
      ],
      policies,
    }),
  );
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return toBinary(
    SignedRuntimeBundleSchema,
    create(SignedRuntimeBundleSchema, {
      bundle,
      signature: sign(null, bundle, privateKey),
      sha256: createHash('sha256').update(bundle).digest('hex'),
      publicKey: Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url'),
    }),
  );
}

function certificateOf(secure: SecureSite): {
  id: string;
  certificatePem: Uint8Array;
  keyPem: Uint8Array;
} {
  const { certificatePem, privateKeyPem } = secure;
  return {
    id: 'certificate',
    certificatePem: Buffer.from(certificatePem),
    keyPem: Buffer.from(privateKeyPem),
  };
}

/** The text includes files by absolute path; the bundle holds them under the same paths. */
function policyOf(
  ruleset: Ruleset,
  folder: string,
): {
  id: string;
  name: string;
  revision: bigint;
  seclang: string;
  files: { path: string; content: Uint8Array }[];
} {
  return {
    id: 'policy',
    name: ruleset.title,
    revision: 1n,
    seclang: policyText(ruleset, folder),
    files: [...policyFiles(ruleset)].map(([path, content]) => ({ path, content })),
  };
}
