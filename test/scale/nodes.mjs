/**
 * The run of many enrolled nodes against one controller: prints how long they take to enroll,
 * to connect and to hear of a change, how reads fare while all of them come back at once, and what
 * control weighs. The nodes are streams of this process (simulated-node.mjs); fleet.mjs has them at
 * two controllers. A figure for people; it asserts nothing.
 *
 *   node test/scale/nodes.mjs [--nodes 1000]
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  documentOf,
  freePort,
  megabytes,
  print,
  Product,
  quantiles,
  readWhile,
  until,
} from './product.mjs';
import { loadNodeParts, SimulatedNode } from './simulated-node.mjs';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1000' },
    build: { type: 'string', default: join(import.meta.dirname, '..', '..', '.build') },
  },
});
const count = Number(values.nodes);
const { build } = values;
const parts = await loadNodeParts(build);
const data = mkdtempSync(join(tmpdir(), 'waf-nodes-'));
const management = await freePort();
const flags = ['--no-demo', '--management', `127.0.0.1:${management}`];
const product = new Product({ build, data, workers: '1', quiet: true, flags });

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

const nodes = [];
try {
  await product.start();
  await product.caughtUp();
  print('control before', megabytes(product.weigh().control));
  const issued = await product.call('AgentService/IssueEnrollmentToken', { maxNodes: count });
  let started = performance.now();
  const indexes = Array.from({ length: count }, (_, at) => at);
  const worker = async () => {
    for (let at = indexes.shift(); at !== undefined; at = indexes.shift()) {
      const node = new SimulatedNode(parts, at, () => management);
      await node.enroll((rpc, body) => product.call(rpc, body), issued.token);
      nodes.push(node);
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  print(`${count} nodes enrolled`, seconds(performance.now() - started));

  const allWelcomed = () => until(async () => nodes.every(({ welcomed }) => welcomed), 20);
  for (const node of nodes) node.connect();
  print('all connected', seconds(await allWelcomed()));
  const served = (wanted) => until(async () => nodes.every((one) => one.revision >= wanted), 5);
  print('all have the configuration', seconds(await served(1n)));
  print('control with them', megabytes(product.weigh().control));

  const before = nodes[0].revision;
  started = performance.now();
  const endpoint = { url: 'http://127.0.0.1:1' };
  const site = { primaryHost: 'a.example', upstreams: [endpoint] };
  await product.apply([documentOf('Site', 'site-a', site)], 1);
  await served(before + 1n);
  print('a change reached all', seconds(performance.now() - started));

  for (const node of nodes) node.disconnect();
  const statusOf = async () =>
    (await product.call('AgentService/ListAgents', { status: 'online' })).page;
  await until(async () => ((await statusOf())?.total ?? '0') === '0', 50);
  for (const node of nodes) node.connect();
  const back = allWelcomed();
  const times = await readWhile(product.socketPath, back);
  print('all came back at once', seconds(await back));
  print('reads meanwhile', quantiles(times));
  print('control at its most', `${(product.weigh().control.peak / 1024 / 1024).toFixed(0)} MB`);
} catch (error) {
  const failures = new Map();
  for (const { failure } of nodes) failures.set(failure, (failures.get(failure) ?? 0) + 1);
  print('failed', `${error.message} ${JSON.stringify([...failures])}`);
  process.exitCode = 1;
} finally {
  for (const node of nodes) node.disconnect();
  await product.stop();
  product.close();
  rmSync(data, { recursive: true, force: true });
}
process.exit();
