/**
 * Packs the program in a process of low priority: 4,000 files are read and compressed while
 * control answers and the engine serves. What it made is one line of JSON on its standard output.
 */

import { setPriority } from 'node:os';
import { buildPackage } from './build-package.ts';
import { keepPackage } from './kept-package.ts';

/** The least that the system gives; threads that begin after it inherit it. */
const lowest = 19;

const [how = '', folder = '', path = ''] = process.argv.slice(2);
setPriority(lowest);
const built = await (how === 'keep' ? keepPackage(folder, path) : buildPackage(folder, path));
process.stdout.write(`${JSON.stringify(built)}\n`);
