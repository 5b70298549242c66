/**
 * What Express makes of a request: bodies by multer, busboy, its own form readers and JSON reader,
 * cookies by cookie-parser. One path a reader. Prints its port.
 */

import busboy from 'busboy';
import cookieParser from 'cookie-parser';
import express from 'express';
import multer from 'multer';

const encode = (text) => Buffer.from(String(text), 'utf8').toString('base64');
const newReading = () => ({ names: [], values: [], fileNames: [] });

function collect(reading, node) {
  if (Array.isArray(node)) {
    for (const one of node) collect(reading, one);
  } else if (node !== null && typeof node === 'object') {
    for (const [name, value] of Object.entries(node)) {
      reading.names.push(encode(name));
      collect(reading, value);
    }
  } else if (typeof node === 'string') {
    reading.values.push(encode(node));
  }
}

function answer(request, response) {
  const reading = newReading();
  collect(reading, request.body);
  collect(reading, request.query);
  collect(reading, { ...request.cookies });
  for (const { fieldname, originalname } of request.files ?? []) {
    reading.names.push(encode(fieldname));
    reading.fileNames.push(encode(originalname));
  }
  response.json(reading);
}

function readWithBusboy(request, response, next) {
  const reading = newReading();
  const reader = busboy({ headers: request.headers });
  reader.on('field', (name, value) => {
    reading.names.push(encode(name ?? ''));
    // In a charset that busboy does not know there is no value.
    if (value !== undefined) reading.values.push(encode(value));
  });
  reader.on('file', (name, stream, { filename }) => {
    reading.names.push(encode(name ?? ''));
    reading.fileNames.push(encode(filename ?? ''));
    stream.on('error', () => {});
    stream.resume();
  });
  // What was read before an error was read: an application may act on it.
  let done = false;
  const finish = () => {
    if (done) return;
    done = true;
    request.unpipe(reader);
    request.resume();
    response.json(reading);
  };
  reader.on('error', finish);
  reader.on('close', finish);
  request.on('error', next);
  request.pipe(reader);
}

const app = express();
app.set('query parser', 'extended');
app.use(cookieParser());
app.post('/multer', multer({ storage: multer.memoryStorage() }).any(), answer);
app.post('/busboy', readWithBusboy);
app.post('/qs', express.urlencoded({ extended: true }), answer);
app.post('/querystring', express.urlencoded({ extended: false }), answer);
app.post('/json', express.json(), answer);
app.all('/', answer);
app.use((error, request, response, _next) => {
  request.resume();
  response.json(newReading());
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${server.address().port}\n`);
});
server.keepAliveTimeout = 60_000;
process.stdin.on('end', () => process.exit(0)).resume();
