/**
 * The origin of the run of hostile clients, in a thread of its own: large answers must not take
 * time from the client that is measured. Posts its port.
 */

import { createServer } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const large = Buffer.alloc(workerData.largeBytes, 'x');
const origin = createServer((received, response) => {
  received.resume();
  if (received.url === '/large') response.end(large);
  else received.on('end', () => response.end('ok'));
});
origin.listen(0, '127.0.0.1', () => parentPort.postMessage(origin.address().port));
