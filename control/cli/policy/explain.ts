/** `waf explain`: the chain of guards and rules, for a request that was seen or one described. */

import type { JsonObject } from '@bufbuild/protobuf';
import type { SecurityEvent } from '../../../proto/gen/waf/v1/log_pb.ts';
import type { TestPolicyResponse } from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { allPages } from '../all-pages.ts';
import type { ApiClient } from '../api-client.ts';
import type { CommandContext, CommandDefinition, FlagValues } from '../command.ts';
import { textFlag } from '../command.ts';
import { describedRequest, requestFlags } from './described-request.ts';
import { badFlag } from '../input.ts';
import { waitFor } from '../policy-progress.ts';
import { findEventOfRequest } from '../log/found-event.ts';
import { printable } from '../show.ts';
import { policyOfSite } from '../site/policy-of-site.ts';

const columns = ['STEP', 'SAW', 'DECIDED'];

/** The command. */
export const explainCommand: CommandDefinition = {
  path: ['explain'],
  summary: 'Explain what each guard and rule decided about a request',
  help:
    'Examples:\n' +
    '  waf explain 3f0c…                      (the X-Request-Id of an answer)\n' +
    "  waf explain --url 'http://shop.example/?id=1%27%20OR%20%271%27=%271'\n" +
    'With --url nothing is sent: the engine tries the request as it would serve it.\n' +
    'Exit code 1: it is blocked.',
  arguments: [{ name: '[request]', summary: 'id of a request that left a security event' }],
  flags: [
    { flags: '--url <url>', summary: 'URL with a host, or a path with --site' },
    { flags: '--site <site>', summary: 'site that serves it', resource: 'site' },
    ...requestFlags,
  ],
  run: async (context, [requestId], flags) => {
    const url = textFlag(flags, 'url');
    if ((requestId === undefined) === (url === undefined)) {
      throw badFlag('give either the id of a request or --url');
    }
    return requestId === undefined
      ? explainDescribed(context, flags, url ?? '')
      : explainSeen(context, requestId);
  },
};

async function explainSeen(context: CommandContext, requestId: string): Promise<number> {
  const { SecurityEventSchema } = await import('../../../proto/gen/waf/v1/log_pb.ts');
  const { toJson } = await import('@bufbuild/protobuf');
  const { event } = await findEventOfRequest(await context.api(), context.output, requestId);
  context.output.result(toJson(SecurityEventSchema, event), { columns, rows: rowsSeen(event) });
  const verdict = event.blocked ? 'blocked' : 'passed';
  context.output.line(`${verdict}, status ${event.status}, inbound score ${event.anomalyScore}`);
  return event.blocked ? 1 : 0;
}

function rowsSeen({ raw, messages }: SecurityEvent): string[][] {
  const guards = (raw?.['guards'] ?? []) as readonly JsonObject[];
  return [
    ...guards.map((one) => guardRow(one, textOf(one, 'detail'))),
    ...messages.map((one) => {
      const key = one.matchKey === '' ? '' : `:${one.matchKey}`;
      const saw = `${one.matchVariable}${key} ${one.matchData}`;
      return ruleRow(one.ruleId, one.phase, saw, one.message, one.disruptive);
    }),
  ];
}

async function explainDescribed(
  context: CommandContext,
  flags: FlagValues,
  url: string,
): Promise<number> {
  const { TestPolicyResponseSchema } = await import('../../../proto/gen/waf/v1/policy_pb.ts');
  const { toJson } = await import('@bufbuild/protobuf');
  const api = await context.api();
  const site = await siteOf(api, textFlag(flags, 'site'), url);
  const policyId = await policyOfSite(api, site);
  const request = { policyId, siteId: site.id, ...describedRequest(flags) };
  const response = await waitFor(context, 'Compiling rules', (options) =>
    api.policies.testPolicy(request, options),
  );
  const json = toJson(TestPolicyResponseSchema, response);
  context.output.result(json, { columns, rows: rowsTried(response) });
  const verdict = response.blocked ? 'blocked' : 'passed';
  const score = response.totalInboundScore;
  context.output.line(
    `${printable(site.name)}: ${verdict}, status ${response.status}, inbound score ${score}`,
  );
  return response.blocked ? 1 : 0;
}

function rowsTried({ transaction, matchedRules }: TestPolicyResponse): string[][] {
  const guards = (transaction?.['guards'] ?? []) as readonly JsonObject[];
  const trace = (transaction?.['trace'] ?? []) as readonly JsonObject[];
  return [
    ...guards.map((one) => guardRow(one, textOf(one, 'saw'))),
    ...matchedRules.map((rule) => {
      const step = trace.find((one) => one['ruleId'] === rule.ruleId);
      const [first] = (step?.['variables'] ?? []) as readonly JsonObject[];
      const saw = first === undefined ? '' : `${textOf(first, 'name')} ${textOf(first, 'value')}`;
      return ruleRow(String(rule.ruleId), rule.phase, saw, rule.message, rule.disruptive);
    }),
  ];
}

function guardRow(guard: JsonObject, saw: string): string[] {
  const [action, reason, rule] = ['action', 'reason', 'ruleId'].map((name) => textOf(guard, name));
  const decided = [action, reason, rule].filter((one) => one !== '').join(' ');
  const nothing = guard['skipped'] === true ? 'skipped' : 'nothing to say';
  return [`guard ${textOf(guard, 'guard')}`, printable(saw), decided === '' ? nothing : decided];
}

function ruleRow(
  id: string,
  phase: number,
  saw: string,
  message: string,
  disruptive: boolean,
): string[] {
  const decided = disruptive ? `${message} (decided)` : message;
  return [`rule ${id}, phase ${phase}`, printable(saw), printable(decided)];
}

function textOf(from: JsonObject, field: string): string {
  const value = from[field];
  return typeof value === 'string' ? value : '';
}

/** The site of a URL: the one named, else that whose host it is, else that of a wildcard. */
async function siteOf(api: ApiClient, id: string | undefined, url: string): Promise<Site> {
  if (id !== undefined) {
    const { site } = await api.sites.getSite({ id });
    if (site !== undefined) return site;
  }
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  if (host === '') throw badFlag('--url wants a full URL, or a path together with --site');
  const sites = await allPages((page) => api.sites.listSites({ page }));
  const wildcard = host.replace(/^[^.]+/, '*');
  for (const name of [host, wildcard]) {
    const found = sites.find((one) => [one.primaryHost, ...one.aliases].includes(name));
    if (found !== undefined) return found;
  }
  throw badFlag(`no site serves ${printable(host)}; see waf site list`);
}
