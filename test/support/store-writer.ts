/** A process that writes to a store for ever, and what it acknowledged. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './product.ts';

/** It runs until `kill`. */
export interface StoreWriter {
  /** The number of the last write that it acknowledged. */
  acknowledged(): number;
  /** Resolves when it acknowledged a write of at least this number. Errors: it ended. */
  reached(number: number): Promise<void>;
  kill(): void;
}

/** Starts it on the store of a data folder. */
export function startStoreWriter(data: string): StoreWriter {
  const build = pathToFileURL(path.join(root, '.build') + path.sep).href;
  const script = path.join(root, 'test', 'fault', 'store-writer.mjs');
  const writer = spawn(process.execPath, [script, path.join(data, 'control'), build], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let numbers = '';
  let errors = '';
  writer.stdout.on('data', (chunk: Buffer) => (numbers += chunk.toString()));
  writer.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = new AbortController();
  writer.once('close', () => ended.abort());
  const acknowledged = (): number => Number(numbers.split('\n').at(-2) ?? 0);
  return {
    acknowledged,
    reached: async (number) => {
      while (acknowledged() < number) {
        if (ended.signal.aborted) throw new Error(`the writer ended: ${errors}`);
        await once(writer.stdout, 'data', { signal: ended.signal }).catch(() => undefined);
      }
    },
    kill: () => void writer.kill('SIGKILL'),
  };
}
