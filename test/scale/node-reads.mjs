/**
 * Reads of the API, one after the other until told to end: a thread of runs whose own loop is busy
 * with the nodes that they play. Sends the milliseconds of each.
 */

import { Agent } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { ask } from './product.mjs';

const { socketPath } = workerData;
let ended = false;
parentPort.once('message', () => (ended = true));

const agent = new Agent({ keepAlive: true });
const headers = { 'content-type': 'application/json' };
const path = '/waf.v1.SiteService/ListSites';
const options = { socketPath, path, method: 'POST', headers, agent };
const times = [];
while (!ended) {
  const started = performance.now();
  const { status, text } = await ask(options, '{}');
  if (status !== 200) throw new Error(`ListSites: ${status} ${text}`);
  times.push(performance.now() - started);
}
agent.destroy();
parentPort.postMessage(times);
