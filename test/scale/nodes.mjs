/**
 * The run of many enrolled nodes against one controller: prints how long they take to enroll,
 * to connect and to hear of a change, how reads fare while all of them come back at once, and what
 * control weighs. The nodes are streams of this process, each from an address of its own. A figure
 * for people; it asserts nothing.
 *
 *   node test/scale/nodes.mjs [--nodes 1000]
 */

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { documentOf, freePort, megabytes, print, Product, quantiles, until } from './product.mjs';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1000' },
    build: { type: 'string', default: join(import.meta.dirname, '..', '..', '.build') },
  },
});
const count = Number(values.nodes);
const { build } = values;
const { AgentStreamService } = await import(
  join(build, 'proto', 'gen', 'waf', 'v1', 'agent_stream_pb.js')
);
const versions = await import(join(build, 'engine', 'base', 'protocol-versions.js'));
const { controllerServerName } = await import(join(build, 'engine', 'base', 'node-identity.js'));

const data = mkdtempSync(join(tmpdir(), 'waf-nodes-'));
const management = await freePort();
const flags = ['--no-demo', '--management', `127.0.0.1:${management}`];
const product = new Product({ build, data, workers: '1', quiet: true, flags });

/** A node that says hello and confirms what it is given, as one does that applies it at once. */
class SimulatedNode {
  constructor(identity, address) {
    this.identity = identity;
    this.address = address;
    this.revision = 0n;
    this.failure = '';
  }

  connect() {
    const { cert, key, ca } = this.identity;
    const transport = createConnectTransport({
      baseUrl: `https://127.0.0.1:${management}`,
      httpVersion: '2',
      nodeOptions: { cert, key, ca, servername: controllerServerName, localAddress: this.address },
    });
    this.abort = new AbortController();
    this.waiting = [{ case: 'hello', value: this.hello() }];
    this.welcomed = false;
    void this.read(createClient(AgentStreamService, transport));
  }

  hello() {
    const { agentId, streamToken } = this.identity;
    const { observationProtocolVersion, ownCapabilities: capabilities } = versions;
    const version = 'simulated';
    return { agentId, streamToken, version, observationProtocolVersion, capabilities };
  }

  async read(client) {
    try {
      for await (const { message } of client.connect(this.said(), { signal: this.abort.signal })) {
        if (message.case === 'welcome') this.welcomed = true;
        if (message.case === 'configUpdate') this.applied(message.value);
      }
    } catch (error) {
      this.failure = error.message;
    }
    this.welcomed = false;
  }

  applied({ revision, bundleSha256, correlationId }) {
    this.revision = revision;
    const value = { targetRevision: revision, artifactSha256: bundleSha256, success: true };
    this.say({ case: 'applyResult', value: { ...value, correlationId } });
  }

  say(message) {
    this.waiting.push(message);
    this.wake?.();
  }

  async *said() {
    while (!this.abort.signal.aborted) {
      const message = this.waiting.shift();
      if (message !== undefined) yield { message };
      else await new Promise((resolve) => (this.wake = resolve));
    }
  }

  disconnect() {
    this.abort.abort();
    this.wake?.();
  }
}

const addressOf = (at) => `127.1.${Math.floor(at / 250)}.${(at % 250) + 1}`;
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

async function enroll(token, at) {
  const asked = { enrollmentToken: token, fingerprint: `simulated-${at}`, hostname: `node-${at}` };
  const answer = await product.call('AgentService/Enroll', asked);
  const text = (base64) => Buffer.from(base64, 'base64').toString();
  return {
    agentId: answer.agent.id,
    streamToken: answer.streamToken,
    cert: text(answer.workloadCertPem),
    key: text(answer.workloadKeyPem),
    ca: text(answer.caCertPem),
  };
}

/** Times of reads over the socket, one after another, until `done`. */
async function readWhile(done) {
  const { socketPath } = product;
  const reads = new Worker(new URL('node-reads.mjs', import.meta.url), {
    workerData: { socketPath },
  });
  const times = once(reads, 'message');
  await done;
  reads.postMessage('end');
  return (await times)[0];
}

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
      nodes.push(new SimulatedNode(await enroll(issued.token, at), addressOf(at)));
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
  const times = await readWhile(back);
  print('all came back at once', seconds(await back));
  print('reads meanwhile', quantiles(times));
  print('control at its most', `${(product.weigh().control.peak / 1024 / 1024).toFixed(0)} MB`);
} catch (error) {
  const failures = new Map();
  for (const { failure } of nodes) failures.set(failure, (failures.get(failure) ?? 0) + 1);
  print('failed', `${error.message} ${JSON.stringify([...failures])}`);
  process.exitCode = 1;
} finally {
  for (const node of nodes) node.disconnect?.();
  await product.stop();
  product.close();
  rmSync(data, { recursive: true, force: true });
}
process.exit();
