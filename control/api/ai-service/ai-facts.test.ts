/** Proves that the fields of what the assistant's service answers follow facts. */

import { createServer, type Server } from 'node:http';
import { connect as connectSocket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  AIService,
  LogKind,
  StreamAnalysisResponseSchema,
  StreamChatResponseSchema,
} from '../../../proto/gen/waf/v1/ai_pb.ts';
import { noting, ResponseFacts } from '../../../test/support/response-facts.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

const facts = new ResponseFacts();
let waf: TestControl;
let provider: Server;
/** What the provider answers. */
let answer = 'fine';

/** Fields with one value, and why. */
const constants: Readonly<Record<string, string>> = {
  'AIProposal.evidenceIds': 'no request is retained here that a rule could be tried on',
  'AIProposal.kind': 'there is one kind',
  'AIProposal.promptVersion': 'of this program',
  'DraftCustomRuleResponse.warnings': 'no request is retained here that a rule could be tried on',
  'MutationResult.changed': 'what is applied makes a rule',
  'MutationResult.revision': 'rules have none',
};

beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume();
    const said = { choices: [{ delta: { content: answer } }] };
    const used = { choices: [], usage: { total_tokens: answer.length } };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const one of [said, used]) response.write(`data: ${JSON.stringify(one)}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  waf = noting(await startTestControl({ demoOrigin: null }), facts, AIService.methods);
});
afterAll(async () => {
  await waf.control.close();
  provider.closeAllConnections();
  provider.close();
});

async function ask(rpc: string, body: object): Promise<Record<string, unknown>> {
  const found = await waf.call(rpc, body);
  expect(found.status, found.text).toBe(200);
  return found.body;
}

async function configure(model: string): Promise<void> {
  const { port } = provider.address() as AddressInfo;
  const config = { enabled: true, model, endpoint: `http://127.0.0.1:${port}/v1` };
  const values = { 'ai.config': config, 'outgoing.allowed_networks': ['127.0.0.0/8'] };
  await ask('SystemService/UpdateSystemSettings', { values });
}

async function draft(policyId: string, at: number): Promise<string> {
  const seclang = `SecRule ARGS "@contains marker${at}" "id:0,phase:2,deny,status:403,log"`;
  answer = JSON.stringify({ name: `rule ${at}`, phase: 2, seclang, confidence: 0.5 + at / 10 });
  const { proposal } = await ask('AIService/DraftCustomRule', { intent: 'block it', policyId });
  return (proposal as { id: string }).id;
}

async function streams(): Promise<void> {
  const transport = createConnectTransport({
    baseUrl: 'http://localhost',
    httpVersion: '2',
    nodeOptions: { createConnection: () => connectSocket(waf.socket) },
  });
  const client = createClient(AIService, transport);
  const value = { kind: LogKind.SECURITY, view: 'v', columns: ['c'], rows: [{ cells: ['x'] }] };
  for (const text of ['one', 'something longer']) {
    answer = text;
    for await (const one of client.streamChat({ message: 'hello' })) {
      facts.noteMessage(StreamChatResponseSchema, one);
    }
    for await (const one of client.streamAnalysis({ subject: { case: 'logTable', value } })) {
      facts.noteMessage(StreamAnalysisResponseSchema, one);
    }
  }
}

test('every field of the service follows a fact', async () => {
  await ask('AIService/GetAIStatus', {});
  await ask('AIService/ListAIProposals', {});
  const { policy } = await ask('PolicyService/CreatePolicy', { policy: { name: 'assisted' } });
  const { id: policyId } = policy as { id: string };
  const proposals: string[] = [];
  for (const model of ['first', 'second']) {
    await configure(model);
    await ask('AIService/GetAIStatus', {});
    await ask('AIService/SetAIProviderSecret', { apiKey: model === 'first' ? 'sk-1' : '' });
    for (let at = 0; at < 2; at++) proposals.push(await draft(policyId, proposals.length));
  }
  await ask('AIService/ListAIProposals', { page: { pageSize: 1 } });
  for (const [at, id] of proposals.entries()) {
    await ask('AIService/GetAIProposal', { id });
    await ask(at < 2 ? 'AIService/ApplyAIProposal' : 'AIService/RejectAIProposal', { id });
    await ask('AIService/GetAIProposal', { id });
  }
  const upstreams = [{ inline: { url: 'http://127.0.0.1:1', weight: 1 } }];
  const asked = { name: 'shop', primaryHost: 'shop.example', upstreams };
  const { site } = await ask('SiteService/CreateSite', { site: asked });
  const { id: siteId } = site as { id: string };
  const filters = {
    siteId,
    ruleIds: ['942100'],
    clientIpCidrs: ['192.0.2.0/24'],
    outcome: 'blocked',
  };
  for (const filter of [{ notes: 'all' }, { ...filters, lookbackSeconds: 60, notes: 'some' }]) {
    answer = JSON.stringify(filter);
    await ask('AIService/TranslateLogQuery', { query: 'what was blocked' });
  }
  await streams();
  expect(facts.constant(AIService.methods)).toEqual(Object.keys(constants).sort());
});
