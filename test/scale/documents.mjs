/**
 * Imports API documents of a dozen shapes and one of 5 MB with 2,000 operations into the compiled
 * product by `waf api import`, and prints what each costs: time until the node serves it, what was
 * compiled, memory of both programs. A figure for people; it asserts nothing.
 *
 *   node test/scale/documents.mjs [--workers 2] [--build .build] [--settle 10] [--verbose]
 */

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { hugeDocument, largeDocuments } from './large-documents.mjs';
import { documentOf, megabytes, print, Product, until } from './product.mjs';

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '2' },
    settle: { type: 'string', default: '10' },
    verbose: { type: 'boolean', default: false },
    build: { type: 'string', default: join(import.meta.dirname, '..', '..', '.build') },
  },
});
const { build, workers } = values;
const data = mkdtempSync(join(tmpdir(), 'waf-documents-'));
const product = new Product({ build, data, workers, quiet: true, flags: ['--no-demo'] });

/** One command line; resolves to its exit code and what it said. */
function waf(...line) {
  const socket = ['--admin-socket', product.socketPath];
  const program = [join(build, 'control', 'cli', 'main.js'), ...line, ...socket];
  const options = { maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(process.execPath, program, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
}

async function importInto(site, text) {
  const file = join(data, `${site}.json`);
  writeFileSync(file, text);
  const began = performance.now();
  const { code, stdout, stderr } = await waf('api', 'import', file, '--site', site, '--yes');
  const staged = performance.now() - began;
  if (code !== 0) return { says: `refused: ${stderr.trim().split('\n').at(-1)}`, stdout };
  await product.caughtUp();
  const served = performance.now() - began;
  return { says: `command ${seconds(staged)}, served ${seconds(served)}`, stdout };
}

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** Weighs once memory that was needed for a change had time to go back. */
async function weigh(what) {
  await sleep(Number(values.settle) * 1000);
  const { control, engine } = product.weigh();
  print(what, `control ${megabytes(control)}, engine ${megabytes(engine)}`);
}

const site = (name) =>
  documentOf('Site', name, {
    primaryHost: `${name}.example`,
    upstreams: [{ url: 'http://127.0.0.1:9' }],
  });

try {
  await product.start();
  const documents = largeDocuments();
  const names = [...documents.map((_, at) => `site-${at}`), 'huge'];
  await product.apply(names.map(site), names.length);
  await product.caughtUp();
  await weigh('before');
  const huge = { name: 'huge (3.0, 2,000 operations)', text: hugeDocument() };
  for (const [at, { name, text }] of [...documents, huge].entries()) {
    if (name === huge.name) await weigh('before the huge one');
    const { says, stdout } = await importInto(names[at], text);
    print(name, `${(text.length / 1024).toFixed(0)} KB, ${says}`);
    if (values.verbose) process.stdout.write(stdout);
  }
  await weigh('after the huge one');
  await until(async () => (await product.through('huge.example', '/v1/account0')).status === 502);
} finally {
  await product.stop();
  product.close();
  rmSync(data, { recursive: true, force: true });
}
