/** Clients that send large bodies over and over until told to end; a thread of large-bodies.mjs. */

import { Agent } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { ask } from './product.mjs';

const { port, body, clients } = workerData;
let ended = false;
parentPort.once('message', () => (ended = true));

const all = await Promise.all(Array.from({ length: clients }, (_, at) => send(at)));
parentPort.postMessage(all.flat());

/** Each client has an address of its own. 0 stands for a connection that was closed. */
async function send(at) {
  const agent = new Agent({ keepAlive: true });
  const options = {
    ...{ host: '127.0.0.1', port, agent, localAddress: `127.0.0.${at + 2}` },
    ...{ path: '/', method: 'POST' },
    headers: { host: 'large.test', 'content-type': 'application/xml' },
  };
  const statuses = [];
  while (!ended) {
    const { status } = await ask(options, body).catch(() => ({ status: 0 }));
    statuses.push(status);
  }
  agent.destroy();
  return statuses;
}
