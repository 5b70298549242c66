/** Packs the program in a thread of its own: control's answers do not wait for 4,000 files. */

import { parentPort, workerData } from 'node:worker_threads';
import { buildPackage } from './build-package.ts';

const { folder, path } = workerData as { readonly folder: string; readonly path: string };
parentPort?.postMessage(await buildPackage(folder, path));
