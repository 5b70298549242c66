/** An origin that reads bodies and answers; a process of large-bodies.mjs. */

import { createServer } from 'node:http';

const server = createServer((request, response) => {
  request.resume().on('end', () => response.end('ok'));
});
server.listen(0, '127.0.0.1', () => {
  process.send(`http://127.0.0.1:${server.address().port}`);
});
