/** Clients that send large bodies over and over, until a message; a process of large-bodies.mjs. */

import { Agent } from 'node:http';
import { ask } from './product.mjs';

const [port, clients, megabytes] = process.argv.slice(2).map(Number);
/** One element a line, so that there are many values and none is long. */
const line = '<item id="42"><name>blue lamp</name><price>12.50</price></item>\n';
const lines = line.repeat(Math.floor((megabytes * 1e6) / line.length));
const body = Buffer.from(`<list>${lines}</list>`);
let ended = false;
process.once('message', () => (ended = true));
process.send('ready');

const all = await Promise.all(Array.from({ length: clients }, (_, at) => send(at)));
process.send(all.flat());

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
