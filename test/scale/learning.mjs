/**
 * The run of many hostile requests through the learner of one front thread, in this process:
 * random paths, random field names, a planted value in each body. Prints how many requests were
 * looked at, how many entries were ever held at once, what was reported, and the memory. A figure
 * for people; it asserts nothing but that no planted value was reported.
 *
 *   node test/scale/learning.mjs [--requests 1000000] [--endpoints 8]
 */

import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    endpoints: { type: 'string', default: '8' },
    build: { type: 'string', default: join(import.meta.dirname, '..', '..', '.build') },
  },
});
const load = (...path) => import(join(values.build, 'engine', ...path));
const { Learner } = await load('schema', 'learning', 'learner.js');
const { RequestView } = await load('guard', 'request-view.js');
const { RequestHeadParser } = await load('http', 'request-head.js');
const { learningLimits } = await load('base', 'learning-limits.js');

const requests = Number(values.requests);
const planted = 'kanarienvogel';
/** Requests between two reports: some 5,000 a second and thread. */
const perInterval = 10_000;

const endpoints = Array.from({ length: Number(values.endpoints) }, (_, at) => ({
  assetId: `asset-${at}`,
  generation: 1,
  method: 'POST',
  host: 'shop.test',
  path: [[{ literal: `e${letters(at)}` }], [{ parameter: 'any' }]],
  observed: true,
}));
const learner = new Learner();
const learning = { format: 1, siteId: 's', endpoints, others: [] };
const site = learner.prepare([{ id: 's', learning }]).get('s');

const view = new RequestView();
const parser = new RequestHeadParser();
const facts = { clientIp: '', clientPort: 0, peerIp: '', serverIp: '', serverPort: 0 };
const served = { outcome: 'served', status: 200, transaction: null };

const sums = new Map();
const reported = new Set();
let largest = 0;
let leaked = 0;
const startedRss = process.memoryUsage().rss;
let highestRss = startedRss;
const started = performance.now();
for (let at = 0; at < requests; at++) {
  sendOne(at);
  if (at % perInterval !== perInterval - 1 && at !== requests - 1) continue;
  largest = Math.max(largest, learner.size);
  highestRss = Math.max(highestRss, process.memoryUsage().rss);
  for (const { entries } of learner.drain()) for (const [key, count] of entries) take(key, count);
}
const seconds = (performance.now() - started) / 1000;

const megabytes = (bytes) => `${(bytes / 1024 / 1024).toFixed(0)} MB`;
say(`requests: ${requests} in ${seconds.toFixed(1)} s`);
say(`entries at once: ${largest} of ${learningLimits.fieldsPerThread}`);
const byText = (left, right) => left.localeCompare(right);
const shown = [...reported].toSorted(byText).slice(0, 20);
say(`fields reported: ${reported.size}: ${shown.join(', ')}`);
for (const key of [...sums.keys()].toSorted(byText)) say(`${key}: ${sums.get(key)}`);
say(`memory: ${megabytes(startedRss)} before, ${megabytes(highestRss)} at most`);
say(`planted values reported: ${leaked}`);
process.exitCode = leaked === 0 ? 0 : 1;

function say(text) {
  process.stdout.write(`${text}\n`);
}

function take(key, count) {
  if (key.includes(planted)) leaked++;
  if (key.startsWith('type ')) reported.add(key.slice(5));
  else sums.set(key, (sums.get(key) ?? 0) + count);
}

function sendOne(at) {
  const name = `${planted}${letters(at)}`;
  const random = letters((at * 2_654_435_761) % 4_294_967_296);
  const body = { usual: name, [name]: at, [random]: [name], [`${name}@shop.test`]: null };
  const target = `/e${letters(at % (endpoints.length + 1))}/${random}`;
  const type = 'Content-Type: application/json';
  const head = `POST ${target} HTTP/1.1\r\nHost: shop.test\r\n${type}\r\n\r\n`;
  const bytes = Buffer.from(head, 'latin1');
  parser.reset(0);
  parser.execute(bytes, bytes.length);
  view.begin(parser, bytes, facts);
  view.host = 'shop.test';
  const run = site.begin(view, true);
  const content = Buffer.from(JSON.stringify(body));
  run?.take({ takeBody: () => ({ bytes: content, truncated: false }) }, content.length, true);
  run?.end(served);
}

/** A name of letters, another one for each number. */
function letters(at) {
  return [...String(at)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
}
