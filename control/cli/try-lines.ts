/** One line for each change of protection: how to try it with curl, and what it answers. */

import type { IpListBindingRecord } from '../../proto/gen/waf/v1/ip_list_pb.ts';
import type { CountryAccessRule } from '../../proto/gen/waf/v1/country_access_pb.ts';
import type { RateLimitEndpointRecord } from '../../proto/gen/waf/v1/rate_limit_pb.ts';
import type { Site } from '../../proto/gen/waf/v1/site_pb.ts';
import type { CommandContext } from './command.ts';
import { withListeners } from './listeners.ts';

const anySite = "curl -i -H 'Host: HOST' http://ADDRESS";

/** `curl` towards a site, up to its path. */
export function curlOf({ primaryHost, tls }: Site, more = ''): string {
  const host = primaryHost.replace(/^\*\./, 'www.');
  const secure = (tls?.mode ?? 0) > 1;
  const target = secure ? `--resolve ${host}:443:ADDRESS https://${host}` : 'http://ADDRESS';
  return `curl -i ${more}${secure ? '' : `-H 'Host: ${host}' `}${target}`;
}

/** Prints the line for a rate limit. */
export async function noteRateLimit(
  context: CommandContext,
  limit: RateLimitEndpointRecord,
): Promise<void> {
  const method = limit.methods[0] === undefined ? '' : `-X ${limit.methods[0]} `;
  const curl = (await curlAt(context, limit.siteId)).replace('curl -i ', `curl -i ${method}`);
  const path = limit.pathPattern.replaceAll('*', 'x');
  const count = `${limit.requestCount} times in ${limit.windowSeconds} s`;
  const answers = rateAnswers[limit.action] ?? rateAnswers['block']!;
  const then = limit.enforcementMode === 'observe' ? 'passes, and its event names it' : answers;
  note(context, `Try: ${curl}${path} more than ${count}: the next one ${then}`);
}

const rateAnswers: Readonly<Record<string, string>> = {
  block: 'answers 429',
  ban: 'answers 429, as do all others until the ban ends',
  challenge: 'answers 403 with "bot_challenge_required" in JSON',
};

/** Prints the line for a binding of an IP list. */
export async function noteBinding(
  context: CommandContext,
  binding: IpListBindingRecord,
): Promise<void> {
  const curl = await curlAt(context, binding.siteId);
  const place = binding.matchMode === 'not_in_list' ? 'outside of' : 'of';
  const path = binding.pathPrefix === '' ? '/' : binding.pathPrefix;
  note(context, `Try: ${curl}${path} from an address ${place} the list ${accessOf(binding)}`);
}

/** Prints the line for a country rule. */
export async function noteCountryRule(
  context: CommandContext,
  rule: CountryAccessRule,
): Promise<void> {
  const site = rule.targets.find(({ siteId }) => siteId !== '')?.siteId ?? '';
  const countries = rule.countryCodes.join(', ');
  const from = rule.matchMode === 'not_in_list' ? `any country but ${countries}` : countries;
  const answer = rule.enabled ? accessOf(rule) : 'is answered as before: the rule is off';
  note(context, `Try: ${await curlAt(context, site)}/ from ${from} ${answer}`);
}

/** Prints the line for a certificate by the names that it is for. */
export function noteCertificate(context: CommandContext, dnsNames: readonly string[]): void {
  const host = (dnsNames[0] ?? 'HOST').replace(/^\*\./, 'www.');
  const curl = `curl -iv --resolve ${host}:443:ADDRESS https://${host}/`;
  note(context, `Try: ${curl} shows it once a site of that host uses it`);
}

function note({ options, output }: CommandContext, text: string): void {
  output.note(withListeners(options, text));
}

function accessOf({ kind }: { readonly kind: string }): string {
  if (kind === 'deny') return 'answers 403';
  if (kind === 'monitor') return 'passes, and its event names it';
  return 'passes what would keep others out, and its event names what was skipped';
}

async function curlAt(context: CommandContext, siteId: string): Promise<string> {
  if (siteId === '') return anySite;
  const { site } = await (await context.api()).sites.getSite({ id: siteId });
  return site === undefined ? anySite : curlOf(site);
}
