/** Where the conformance corpora lie and how a test that needs one is left out without it. */

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const repositoryRoot = path.resolve(import.meta.dirname, '../..');
const root = process.env['WAF_CORPUS_DIR'] ?? path.resolve(repositoryRoot, '../shared');

/** The folder that holds `corpus/` and `crs/`; it may not exist. */
export const corpusRoot = root;

/** Records of a JSONL file of the corpus; null, and a printed line, when there is none. */
export function readCorpus<T>(name: string): T[] | null {
  const file = path.join(root, 'corpus', name);
  if (!existsSync(file)) {
    console.log(`skipped: no corpus ${name}`);
    return null;
  }
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
}
