/** A whole product on free ports of loopback, for benchmarks that need control: start and stop. */

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A running product with the demo site. */
export interface Product {
  /** Address of the console, over TLS. */
  readonly url: string;
  readonly proxyPort: number;
  readonly data: string;
  /** The password of the first start. */
  readonly password: string;
  stop(): Promise<void>;
}

/** How it differs from one of this build with its usual settings. */
export interface ProductOptions {
  /** A compiled control/cli/main.js; this build's unless given. */
  readonly program?: string;
  /** Further flags of `waf run`. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts the compiled product on free ports of loopback. Errors: what it printed. */
export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  const { flags = [], env = {} } = options;
  const data = mkdtempSync(join(tmpdir(), 'waf-product-'));
  const program =
    options.program ?? fileURLToPath(new URL('../control/cli/main.js', import.meta.url));
  const child = spawn(
    process.execPath,
    [
      ...[program, 'run', '--data', data, '--proxy', '127.0.0.1:0', '--https', 'off'],
      ...['--management', '127.0.0.1:0', ...flags],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } },
  );
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => child.once('close', resolve));
    if (child.exitCode === null && child.kill('SIGTERM')) await closed;
    rmSync(data, { recursive: true, force: true });
  };
  try {
    let output = '';
    await new Promise<void>((resolve, reject) => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (/Local socket .*\n/.test(output)) resolve();
      });
      child.once('close', (code) => reject(new Error(`exit code ${code}:\n${output}`)));
    });
    const of = (name: string): string => {
      const found = new RegExp(`^ +${name} +(https?://127\\.0\\.0\\.1:\\d+)$`, 'm').exec(output);
      if (found === null) throw new Error(`no address of "${name}" in:\n${output}`);
      return found[1]!;
    };
    return {
      url: of('Management API'),
      proxyPort: Number(new URL(of('Proxy')).port),
      data,
      password: readFileSync(join(data, 'admin-password'), 'utf8').trim(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
