/**
 * The origin of the run of hostile clients; a process of hostile-clients.mjs. Its word is how many
 * bytes `/large` answers. Sends its port.
 */

import { createServer } from 'node:http';

const large = Buffer.alloc(Number(process.argv[2]), 'x');
const origin = createServer((received, response) => {
  received.resume();
  if (received.url === '/large') response.end(large);
  else received.on('end', () => response.end('ok'));
});
origin.listen(0, '127.0.0.1', () => process.send(origin.address().port));
