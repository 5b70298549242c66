/**
 * Asks for a user name and a password under paths of a site (RFC 7617). No bypass of another guard
 * skips it. Checks run beside the thread; what was right once is remembered by a keyed hash.
 */

import { createHmac, randomBytes } from 'node:crypto';
import { clientNetwork } from '../../base/ip-address.ts';
import { pathAuthLimits } from '../../base/guard-limits.ts';
import { checkPathPassword, checkPathPasswordSync } from '../../base/path-password.ts';
import type { BasicAuthConfig } from '../contract/delivery.ts';
import type { GuardVerdict } from '../contract/guard.ts';
import type { Guard } from './guard.ts';
import { rulesOfPath } from './path-rules.ts';
import type { RequestView } from './request-view.ts';

interface Credentials {
  readonly name: string;
  readonly password: Buffer;
  /** As they were sent. */
  readonly text: string;
}

interface Failures {
  count: number;
  readonly untilMs: number;
}

/** Users of paths of one site. */
export class BasicAuth implements Guard {
  readonly name = 'auth';
  private readonly rules: readonly BasicAuthConfig[];
  private readonly key = randomBytes(32);
  /** Digests of credentials that were right, the oldest first. */
  private readonly right = new Set<string>();
  /** Wrong passwords by network of the client. */
  private readonly failures = new Map<string, Failures>();
  private checks = 0;

  constructor(rules: readonly BasicAuthConfig[]) {
    this.rules = rules;
  }

  decide(view: RequestView): GuardVerdict | null {
    const asking = rulesOfPath(this.rules, view).filter(({ open }) => !open);
    const [first] = asking;
    if (first === undefined) return null;
    const given = credentialsOf(view);
    if (given === null) return ask(first, 'auth_required');
    if (asking.every((rule) => this.right.has(this.digest(rule, given)))) return null;
    if (view.trial) {
      const right = asking.every((rule) => isRight(rule, given));
      return right ? null : ask(first, 'auth_failed');
    }
    const network = clientNetwork(view.facts.clientIp);
    const known = this.failures.get(network);
    if (known !== undefined && known.untilMs > view.nowMs && known.count >= failuresMax) {
      return wait(Math.ceil((known.untilMs - view.nowMs) / 1000));
    }
    if (this.checks >= pathAuthLimits.checksMax) return wait(1);
    const later = this.check(asking, given, network, view.nowMs);
    return { ...ask(first, 'auth_failed'), later };
  }

  describe(view: RequestView): string {
    return credentialsOf(view) === null ? 'no user name' : 'a user name and a password';
  }

  private async check(
    rules: readonly BasicAuthConfig[],
    given: Credentials,
    network: string,
    nowMs: number,
  ): Promise<GuardVerdict | null> {
    this.checks++;
    try {
      for (const rule of rules) {
        const user = rule.users.find(({ name }) => name === given.name);
        // An unknown name takes as long as a known one.
        const hash = (user ?? rule.users[0])?.passwordHash ?? '';
        const fits = await checkPathPassword(given.password, hash);
        if (user !== undefined && fits) this.remember(this.digest(rule, given));
        else return this.failed(rule, network, nowMs);
      }
      return null;
    } finally {
      this.checks--;
    }
  }

  private failed(rule: BasicAuthConfig, network: string, nowMs: number): GuardVerdict {
    const known = this.failures.get(network);
    if (known !== undefined && known.untilMs > nowMs) known.count++;
    else {
      this.failures.delete(network);
      const [oldest] = this.failures.keys();
      if (this.failures.size >= networksMax) this.failures.delete(oldest!);
      this.failures.set(network, { count: 1, untilMs: nowMs + pathAuthLimits.failuresSpanMs });
    }
    return ask(rule, 'auth_failed');
  }

  private remember(digest: string): void {
    const [oldest] = this.right;
    if (this.right.size >= pathAuthLimits.rememberedMax) this.right.delete(oldest!);
    this.right.add(digest);
  }

  private digest({ pathPrefix }: BasicAuthConfig, { text }: Credentials): string {
    return createHmac('sha256', this.key).update(`${pathPrefix}\n${text}`).digest('base64');
  }
}

const { failuresMax, networksMax } = pathAuthLimits;

function isRight({ users }: BasicAuthConfig, given: Credentials): boolean {
  const user = users.find(({ name }) => name === given.name);
  return user !== undefined && checkPathPasswordSync(given.password, user.passwordHash);
}

/** Null where nothing, or nothing readable, was sent. */
function credentialsOf(view: RequestView): Credentials | null {
  const [field, second] = view.fields('authorization');
  if (field === undefined || second !== undefined) return null;
  const match = /^basic +([A-Za-z0-9+/]{1,1024}={0,2})$/i.exec(field);
  if (match === null) return null;
  const bytes = Buffer.from(match[1]!, 'base64');
  const colon = bytes.indexOf(0x3a);
  if (colon < 0) return null;
  const name = bytes.toString('utf8', 0, colon);
  return { name, password: bytes.subarray(colon + 1), text: bytes.toString('latin1') };
}

function ask({ realm, pathPrefix }: BasicAuthConfig, reason: string): GuardVerdict {
  const challenge = `Basic realm="${realm || 'Restricted'}", charset="UTF-8"`;
  return {
    ...{ guard: 'auth', action: 'deny', reason, ruleId: '', scenario: null, status: 401 },
    detail: `path ${pathPrefix || '/'}`,
    headers: [['WWW-Authenticate', challenge]],
  };
}

function wait(retryAfterS: number): GuardVerdict {
  return {
    ...{ guard: 'auth', action: 'deny', reason: 'auth_wait', ruleId: '', scenario: null },
    ...{ status: 429, detail: '', retryAfterS },
  };
}
