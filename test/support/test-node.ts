/** Enrolled nodes as tests need them: an identity, mutual TLS, and raw messages. */

import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import {
  AgentStreamService,
  ConnectRequestSchema,
  type ConnectRequest,
  type ConnectResponse,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { controllerServerName, enrollmentText } from '../../base/node-identity.ts';
import { ownCapabilities, observationProtocolVersion } from '../../base/protocol-versions.ts';
import { Outbox } from '../../base/outbox.ts';
import type { TestControl } from './test-control.ts';

/** An enrolled node. */
export interface TestNode {
  readonly id: string;
  readonly streamToken: string;
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
  readonly signingKey: Buffer;
}

/** What a node may say. */
export type Said = MessageInitShape<typeof ConnectRequestSchema>['message'];

/** A stream of a node. */
export interface TestStream {
  readonly heard: ConnectResponse[];
  say(message: Said): void;
  /** Resolves with the message of the refusal, or '' when the stream ended without one. */
  readonly ended: Promise<string>;
  end(): void;
}

/** Issues a token for `count` nodes. */
export async function issueTestToken(waf: TestControl, count: number): Promise<string> {
  const { body } = await waf.call('AgentService/IssueEnrollmentToken', { maxNodes: count });
  return String(body['token']);
}

/** The key of a node and the proof that it holds it, as JSON takes bytes. */
export function proofOfKey(keyPem: string, fingerprint: string, token: string) {
  const key = createPrivateKey(keyPem);
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const proof = sign('sha256', enrollmentText(fingerprint, token), key);
  return { publicKey: publicKey.toString('base64'), proof: proof.toString('base64') };
}

/** Enrolls a node over the socket; with `before` it proves the key of that identity. */
export async function enrollTestNode(
  waf: TestControl,
  enrollmentToken: string,
  fingerprint: string,
  before: TestNode | null = null,
): Promise<TestNode> {
  const facts = { hostname: fingerprint, os: 'linux', arch: 'x64', version: 'test' };
  const proof = before === null ? {} : proofOfKey(before.key, fingerprint, enrollmentToken);
  const asked = { enrollmentToken, fingerprint, ...facts, ...proof };
  const { body, text } = await waf.call('AgentService/Enroll', asked);
  if (body['agent'] === undefined) throw new Error(text);
  const bytes = (name: string): Buffer => Buffer.from(String(body[name]), 'base64');
  return {
    id: (body['agent'] as { id: string }).id,
    streamToken: String(body['streamToken']),
    cert: bytes('workloadCertPem').toString(),
    key: before?.key ?? bytes('workloadKeyPem').toString(),
    ca: bytes('caCertPem').toString(),
    signingKey: bytes('bundleSigningPublicKey'),
  };
}

/** A connection of its own, with the node's certificate unless `shown` has another or none. */
export function nodeTransport(
  port: number,
  node: Pick<TestNode, 'ca'>,
  shown: { readonly cert?: string; readonly key?: string } = {},
  more: object = {},
): Transport {
  return createConnectTransport({
    baseUrl: `https://127.0.0.1:${port}`,
    httpVersion: '2',
    nodeOptions: { ...shown, ca: node.ca, servername: controllerServerName, ...more },
  });
}

/** What a node says first. */
export function helloOf(node: TestNode, changed: object = {}): Said {
  const { id: agentId, streamToken } = node;
  const value = { agentId, streamToken, version: 'test', configHash: '' };
  const versions = { observationProtocolVersion, capabilities: ownCapabilities };
  return { case: 'hello', value: { ...value, ...versions, ...changed } };
}

/** Opens a stream and says `first`. */
export function openTestStream(transport: Transport, first: Said): TestStream {
  const outbox = new Outbox<ConnectRequest>();
  const heard: ConnectResponse[] = [];
  const abort = new AbortController();
  const say = (message: Said): void =>
    outbox.push(create(ConnectRequestSchema, message === undefined ? {} : { message }));
  say(first);
  const read = async (): Promise<string> => {
    try {
      const client = createClient(AgentStreamService, transport);
      for await (const one of client.connect(outbox, { signal: abort.signal })) heard.push(one);
      return '';
    } catch (error) {
      return (error as Error).message;
    } finally {
      outbox.close();
    }
  };
  const ended = read();
  const end = (): void => {
    outbox.close();
    abort.abort();
  };
  return { heard, say, ended, end };
}
