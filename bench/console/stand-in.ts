/**
 * A stand-in of the management API for one page: it serves the built console, signs everybody in,
 * and sends security events at a chosen rate. It costs the machine little beside the browser.
 */

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { openConsole } from '../../control/api/listener/console-pages.ts';
import { AuthService } from '../../proto/gen/waf/v1/auth_pb.ts';
import {
  LogService,
  SecurityEventSchema,
  type SecurityEvent,
} from '../../proto/gen/waf/v1/log_pb.ts';

const tickMs = 10;

/** The running stand-in. */
export interface StandIn {
  readonly url: string;
  /** Events that were handed to the browser's stream. */
  sent(): number;
  /** Sends `events` from now on, `perSecond` of them; with 0 as fast as they are read. */
  start(events: number, perSecond: number): void;
  close(): void;
}

/** Starts it on a port of loopback. */
export async function startStandIn(): Promise<StandIn> {
  const state = { left: 0, perSecond: 0, sent: 0 };
  const api = connectNodeAdapter({ routes: (router) => routes(router, state) });
  const pages = openConsole();
  const server = http.createServer((request, response) => {
    if (!pages(request, response)) api(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: () => state.sent,
    start: (events, perSecond) => Object.assign(state, { left: events, perSecond }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface State {
  left: number;
  perSecond: number;
  sent: number;
}

function routes(router: ConnectRouter, state: State): void {
  router.service(AuthService, {
    refresh: () => ({ accessToken: 'stand-in' }),
    getUserInfo: () => ({ user: { username: 'admin' } }),
    getAccessCodes: () => ({ codes: ['log:read'] }),
  });
  router.service(LogService, {
    getSecurityLogSummary: () => ({}),
    tailSecurityEvents: async function* (_request, { signal }) {
      while (!signal.aborted) {
        const began = performance.now();
        const wanted = state.perSecond === 0 ? 500 : (state.perSecond * tickMs) / 1000;
        for (let count = Math.min(wanted, state.left); count > 0; count -= 1) {
          yield { event: eventAt(state.sent) };
          state.left -= 1;
          state.sent += 1;
        }
        const restMs = state.perSecond === 0 && state.left > 0 ? 0 : tickMs;
        await pause(Math.max(0, restMs - (performance.now() - began)));
      }
    },
  });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** An event as large as usual ones: three rules, one of them with the value that it found. */
function eventAt(index: number): SecurityEvent {
  const at = timestampFromMs(Date.now());
  const message = {
    ruleId: '942100',
    message: 'SQL Injection Attack Detected via libinjection',
    severity: 'CRITICAL',
    matchVariable: 'ARGS',
    matchKey: 'id',
    matchValue: "1' OR '1'='1",
    scoreContribution: 5,
  };
  return create(SecurityEventSchema, {
    id: `event-${index}`,
    uniqueId: `request-${index}`,
    siteId: 'site-1',
    agentId: 'node-1',
    occurredAt: at,
    clientIp: `198.51.100.${index % 250}`,
    method: 'GET',
    host: 'shop.example',
    path: `/products/${index}/reviews?id=1%27%20OR%20%271%27=%271`,
    status: 403,
    blocked: true,
    attackType: 'sqli',
    attackTypes: ['sqli'],
    severity: 'CRITICAL',
    anomalyScore: 5 + (index % 20),
    ruleIds: ['942100', '949110', '980170'],
    messages: [message, { ...message, ruleId: '949110' }, { ...message, ruleId: '980170' }],
  });
}
