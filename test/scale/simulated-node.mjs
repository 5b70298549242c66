/**
 * Nodes as a controller sees them, many in one process: each enrolls with a key of its own, keeps a
 * stream open, fetches the pieces of a configuration that it lacks, confirms it, and connects again
 * as an engine does. They serve nothing. Each has an address of its own, as controllers bound the
 * connections of one.
 */

import { generateKeyPairSync, sign } from 'node:crypto';
import { join } from 'node:path';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { fromBinary } from '@bufbuild/protobuf';

/** What a node needs of the compiled product in the folder `build`. */
export async function loadNodeParts(build) {
  const load = (path) => import(join(build, path));
  const messages = {
    ...(await load('proto/gen/waf/v1/agent_stream_pb.js')),
    ...(await load('proto/gen/waf/runtime/v1/parts_pb.js')),
    ...(await load('proto/gen/waf/runtime/v1/bundle_pb.js')),
  };
  const versions = await load('base/protocol-versions.js');
  const identity = await load('base/node-identity.js');
  const { ReconnectWait } = await load('engine/link/reconnect-wait.js');
  const { linkLimits } = await load('engine/base/observation-limits.js');
  return { ...messages, versions, identity, ReconnectWait, linkLimits };
}

/** One node. `portOf` names the management port of each attempt to connect, by its number. */
export class SimulatedNode {
  constructor(parts, at, portOf) {
    this.parts = parts;
    this.at = at;
    this.portOf = portOf;
    this.address = `127.1.${Math.floor(at / 250)}.${(at % 250) + 1}`;
    this.welcomed = false;
    /** When a stream was welcomed last, and when a configuration was confirmed last. */
    this.welcomedMs = 0;
    this.confirmedMs = 0;
    this.revision = 0n;
    /** Configurations that are older than one before. */
    this.olderCount = 0;
    this.attempts = 0;
    this.failure = '';
    this.held = new Set();
    this.ended = true;
  }

  /** Enrolls by `call`, which makes one RPC. */
  async enroll(call, token) {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const fingerprint = `simulated-${this.at}`;
    const proof = sign(
      'sha256',
      this.parts.identity.enrollmentText(fingerprint, token),
      privateKey,
    );
    const answer = await call('AgentService/Enroll', {
      ...{ enrollmentToken: token, fingerprint, hostname: `node-${this.at}` },
      publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
      proof: proof.toString('base64'),
    });
    const text = (base64) => Buffer.from(base64, 'base64').toString();
    this.agentId = answer.agent.id;
    this.streamToken = answer.streamToken;
    this.credentials = {
      cert: text(answer.workloadCertPem),
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      ca: text(answer.caCertPem),
    };
  }

  /** Connects, and again whenever the stream ends. */
  connect() {
    this.ended = false;
    void this.run();
  }

  disconnect() {
    this.ended = true;
    this.endStream?.();
    this.wakeUp?.();
  }

  async run() {
    const { ReconnectWait, linkLimits } = this.parts;
    const wait = new ReconnectWait(linkLimits.reconnectSpreadMs);
    while (!this.ended) {
      const startedMs = performance.now();
      await this.stream();
      this.welcomed = false;
      if (this.ended) return;
      const ms = wait.next(performance.now() - startedMs);
      await new Promise((resolve) => {
        this.wakeUp = resolve;
        setTimeout(resolve, ms);
      });
    }
  }

  async stream() {
    const abort = new AbortController();
    const { signal } = abort;
    const waiting = [{ case: 'hello', value: this.hello() }];
    let wake = () => undefined;
    this.say = (message) => {
      waiting.push(message);
      wake();
    };
    this.endStream = () => {
      abort.abort();
      wake();
    };
    const said = async function* () {
      while (!signal.aborted) {
        const message = waiting.shift();
        if (message !== undefined) yield { message };
        else await new Promise((resolve) => (wake = resolve));
      }
    };
    const port = this.portOf(this.attempts++);
    const transport = createConnectTransport({
      baseUrl: `https://127.0.0.1:${port}`,
      httpVersion: '2',
      nodeOptions: {
        ...this.credentials,
        servername: this.parts.identity.controllerServerName,
        localAddress: this.address,
      },
    });
    const client = createClient(this.parts.AgentStreamService, transport);
    const pieces = createClient(this.parts.PartService, transport);
    try {
      for await (const { message } of client.connect(said(), { signal })) {
        await this.hear(message, pieces);
      }
      this.failure = 'the stream ended';
    } catch (error) {
      this.failure = error.message;
    }
    this.endStream();
  }

  hello() {
    const { observationProtocolVersion, ownCapabilities: capabilities } = this.parts.versions;
    return {
      ...{ agentId: this.agentId, streamToken: this.streamToken, version: 'simulated' },
      ...{ configHash: this.sha256 ?? '', observationProtocolVersion, capabilities },
    };
  }

  async hear(message, pieces) {
    if (message.case === 'ping') {
      this.say({ case: 'pingAck', value: { nonce: message.value.nonce } });
    }
    if (message.case === 'welcome') {
      this.welcomed = true;
      this.welcomedMs = performance.now();
    }
    if (message.case === 'configUpdate') await this.take(message.value, pieces);
  }

  async take({ revision, bundle, bundleSha256, correlationId }, pieces) {
    const wanted = this.wanted(bundle, bundleSha256);
    const missing = [...wanted].filter(([name]) => !this.held.has(name));
    if (missing.length > 0) {
      const asked = { sha256: missing.map(([, sha256]) => sha256) };
      for await (const { content } of pieces.fetchParts(asked)) this.fetchedBytes = content.length;
    }
    this.held = new Set(wanted.keys());
    if (revision < this.revision) this.olderCount++;
    this.revision = revision;
    this.sha256 = bundleSha256;
    this.confirmedMs = performance.now();
    const value = { targetRevision: revision, artifactSha256: bundleSha256, success: true };
    this.say({ case: 'applyResult', value: { ...value, correlationId } });
  }

  /** Pieces by name; an index is decoded once for all nodes. */
  wanted(bundle, sha256) {
    const known = this.parts.index;
    if (known?.sha256 === sha256) return known.pieces;
    const { parts } = fromBinary(this.parts.RuntimeBundleSchema, bundle);
    const pieces = new Map(
      parts.map((one) => [Buffer.from(one.sha256).toString('hex'), one.sha256]),
    );
    this.parts.index = { sha256, pieces };
    return pieces;
  }
}
