/** The product that the console is measured and pictured on: start, sign-in, stop. */

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';

/** A running product with the demo site. */
export interface Product {
  /** Address of the console, over TLS. */
  readonly url: string;
  readonly proxyPort: number;
  /** The password of the first start. */
  readonly password: string;
  stop(): Promise<void>;
}

/** Starts the compiled product on free ports of loopback. Errors: what it printed. */
export async function startProduct(): Promise<Product> {
  const data = mkdtempSync(join(tmpdir(), 'waf-console-'));
  const command = new URL('../../control/cli/main.js', import.meta.url).pathname;
  const child = spawn(
    process.execPath,
    [
      ...[command, 'run', '--data', data, '--proxy', '127.0.0.1:0', '--https', 'off'],
      ...['--management', '127.0.0.1:0'],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
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
      password: readFileSync(join(data, 'admin-password'), 'utf8').trim(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Signs in with a name and waits for the first page. */
export async function signIn(page: Page, url: string, password: string): Promise<void> {
  await page.goto(`${url}/`);
  await page.waitForSelector('input[type=password]');
  await page.type('input[autocomplete=username]', 'admin');
  await page.type('input[type=password]', password);
  await page.keyboard.press('Enter');
  await page.waitForSelector('header ~ main h1');
}
