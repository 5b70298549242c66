// Three readers of paths on Node: WHATWG URL, url.parse and Express. Prints their ports.

import { createServer } from 'node:http';
import { parse } from 'node:url';
import express from 'express';

const guarded = '/api/login';
const answer = (response, path) => response.end(path === guarded ? 'guarded' : 'other');
const readers = [
  (request) => new URL(request.url, 'http://localhost').pathname,
  (request) => decodeURIComponent(new URL(request.url, 'http://localhost').pathname),
  (request) => parse(request.url).pathname,
];
const application = express();
application.all(guarded, (_request, response) => response.send('guarded'));
application.use((_request, response) => response.send('other'));
const listeners = readers.map((read) => (request, response) => {
  try {
    answer(response, read(request));
  } catch {
    answer(response, '');
  }
});
const ports = [];
for (const listener of [...listeners, application]) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  ports.push(server.address().port);
}
process.stdout.write(`${ports.join(' ')}\n`);
process.stdin.resume();
process.stdin.once('end', () => process.exit(0));
