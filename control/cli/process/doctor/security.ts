/** The checks of who can get in: second factors, tokens, and from where the console is reached. */

import { isIP } from 'node:net';
import type { ApiToken } from '../../../../proto/gen/waf/access/v1/token_pb.ts';
import type { User } from '../../../../proto/gen/waf/v1/user_pb.ts';
import { readAddress } from '../../../supervisor/address.ts';
import { allPages } from '../../all-pages.ts';
import { note, ok, warning, type Check, type Finding } from './finding.ts';

const staleMs = 90 * 24 * 3600_000;
const everything = 'waf:superadmin';

/** Checks of access, in the order of the report. */
export const securityChecks: readonly Check[] = [
  {
    name: 'second factor',
    look: async ({ running, context }) => {
      if (!running) return [];
      const { users } = await context.api();
      return judgeFactors(await allPages((page) => users.listUsers({ page })));
    },
  },
  {
    name: 'API tokens',
    look: async ({ running, context, nowMs }) => {
      if (!running) return [];
      const { tokens } = await context.api();
      const all = await allPages((page) => tokens.listApiTokens({ page, allOwners: true }));
      return judgeTokens(all, nowMs);
    },
  },
  {
    name: 'management API',
    look: ({ addresses }) =>
      addresses
        .filter(({ flag }) => flag === '--management')
        .map(({ text, flag }) => judgeManagement(readAddress(text, flag).host)),
  },
];

/** Administrators whom a password alone lets in; those of identity providers have theirs there. */
export function judgeFactors(users: readonly User[]): Finding[] {
  const name = 'second factor';
  const bare = users.filter(
    ({ locked, totpEnabled, externalProviders, roles }) =>
      !locked &&
      !totpEnabled &&
      externalProviders.length === 0 &&
      roles.some(({ permissions }) => permissions.includes(everything)),
  );
  if (bare.length === 0) return [ok(name, 'every administrator has one')];
  const names = bare.map(({ username }) => username).join(', ');
  return [note(name, `administrators without one: ${names}`, 'waf auth totp enable')];
}

/** Tokens that never end, and tokens that nobody uses. */
export function judgeTokens(tokens: readonly ApiToken[], nowMs: number): Finding[] {
  const name = 'API tokens';
  const named = (some: readonly ApiToken[]): string =>
    some.map((token) => `${token.ownerName}/${token.name}`).join(', ');
  const endless = tokens.filter(({ expiresAt }) => expiresAt === undefined);
  const unused = tokens.filter(({ createdAt, lastUsedAt }) => {
    const seconds = lastUsedAt?.seconds ?? createdAt?.seconds ?? 0n;
    return Number(seconds) * 1000 < nowMs - staleMs;
  });
  const findings: Finding[] = [];
  if (endless.length > 0) {
    const action = 'give them an end: waf token rotate ID --days 90';
    findings.push(note(name, `never end: ${named(endless)}`, action));
  }
  if (unused.length > 0) {
    const action = 'end what nobody needs: waf token revoke ID';
    findings.push(note(name, `not used for 90 days: ${named(unused)}`, action));
  }
  return findings.length > 0
    ? findings
    : [ok(name, `${tokens.length}, all with an end and in use`)];
}

/** Whether others than this machine reach the console and the API. */
export function judgeManagement(host: string): Finding {
  const name = 'management API';
  const local =
    host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  if (local) return ok(name, `only this machine reaches it (${host})`);
  const action = 'listen on 127.0.0.1, or let a firewall admit the networks of operators only';
  return warning(name, `other machines reach it at ${host}`, action);
}
