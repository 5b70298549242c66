/** What waits for one node: what is sent, what is replaced, and when the stream ends. */

import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  type ConnectResponse,
  ConnectResponseSchema,
} from '../../../proto/gen/waf/v1/agent_stream_pb.ts';
import { callLimits } from '../../limits/call-limits.ts';
import { Outgoing } from './outgoing.ts';

type Kind = 'configUpdate' | 'servingGrant' | 'ping';

const message = (kind: Kind): ConnectResponse =>
  create(ConnectResponseSchema, { message: { case: kind, value: {} } });

async function sent(outgoing: Outgoing): Promise<ConnectResponse[]> {
  const messages: ConnectResponse[] = [];
  for await (const one of outgoing) messages.push(one);
  return messages;
}

describe('messages to one node', () => {
  it('sends the newest configuration and the newest grant, the rest in order', async () => {
    const outgoing = new Outgoing();
    const newest = message('configUpdate');
    outgoing.push(message('configUpdate'));
    outgoing.push(message('servingGrant'));
    outgoing.push(message('ping'));
    outgoing.push(newest);
    outgoing.push(message('servingGrant'));
    outgoing.close();
    const messages = await sent(outgoing);
    expect(messages.map((one) => one.message.case)).toEqual([
      'ping',
      'configUpdate',
      'servingGrant',
    ]);
    expect(messages[1]).toBe(newest);
  });

  it('still sends what waited when it was closed, and nothing pushed afterwards', async () => {
    const outgoing = new Outgoing();
    const waiting = message('configUpdate');
    outgoing.push(waiting);
    outgoing.close();
    outgoing.push(message('configUpdate'));
    expect(await sent(outgoing)).toEqual([waiting]);
    expect(outgoing.ended).toBe('');
  });

  it('ends the stream of a node that reads nothing', async () => {
    const outgoing = new Outgoing();
    for (let i = 0; i <= callLimits.nodeWaitingMax; i++) outgoing.push(message('ping'));
    expect(outgoing.ended).toBe('the node does not read what it is sent');
    expect(await sent(outgoing)).toEqual([]);
  });
});
