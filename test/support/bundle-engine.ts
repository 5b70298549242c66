/** An engine of its own on a bundle file, for tests that need no control. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root, runWaf } from './product.ts';

const engineFile = path.join(root, '.build', 'engine', 'main.js');

/** Host of the bundle's site. */
export const bundleHost = 'a.example';

/** A running engine. */
export interface BundleEngine {
  readonly child: ChildProcess;
  /** What it printed so far. */
  stdout(): string;
  /** The same with what went to standard error. */
  output(): string;
}

/**
 * Builds a bundle in `folder` with one site, the origin on a port of loopback and a policy with
 * these rules; the file and what the command said.
 */
export function buildBundle(
  folder: string,
  originPort: number,
  rules: string,
): { file: string; code: number; stderr: string } {
  mkdirSync(path.join(folder, 'rules'), { recursive: true });
  writeFileSync(path.join(folder, 'rules', 'own.conf'), rules);
  const manifest = path.join(folder, 'site.yaml');
  writeFileSync(
    manifest,
    `apiVersion: waf.io/v1
kind: Upstream
metadata: { name: origin }
spec: { endpoints: [{ url: 'http://127.0.0.1:${originPort}', weight: 1 }] }
---
apiVersion: waf.io/v1
kind: Policy
metadata: { name: own }
spec: { ruleset: { path: . } }
---
apiVersion: waf.io/v1
kind: Site
metadata: { name: shop }
spec: { primaryHost: ${bundleHost}, upstreamRef: origin, policyRef: own }
`,
  );
  const file = path.join(folder, 'site.bundle');
  return { file, ...runWaf(['bundle', 'build', '-f', manifest, '-o', file]) };
}

/** Starts one on a bundle; its data lie under `folder`. It may not have begun to listen yet. */
export function startBundleEngine(
  folder: string,
  bundle: string,
  port: number,
  ...more: readonly string[]
): BundleEngine {
  const flags = ['--bundle', bundle, '--listen', `127.0.0.1:${port}`];
  const data = ['--data', path.join(folder, 'var')];
  const child = spawn(process.execPath, [engineFile, ...flags, ...data, ...more], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, output] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  return { child, stdout: () => stdout, output: () => output };
}

/** Sends a signal unless it ended already; resolves when it has, and its output is complete. */
export async function endEngine({ child }: BundleEngine, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'close');
}
