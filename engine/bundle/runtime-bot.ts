/** What sites of a bundle demand from clients, and the keys that seal challenges. Pure. */

import { timestampMs, type Timestamp } from '@bufbuild/protobuf/wkt';
import type {
  RuntimeBundle,
  RuntimeSite,
  RuntimeVerifier,
} from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { AppError } from '../../base/errors.ts';
import { botLimits } from '../../base/guard-limits.ts';
import { readStatedPath } from '../../base/stated-path.ts';
import type { BotConfig, BotMode, ChallengeKey, VerifierConfig } from '../contract/bot.ts';
import { plain } from '../contract/plain.ts';
import type { IpSets } from './ip-set.ts';

const keyBytes = 32;

/** What seals challenges and cookies of a site, the newest first; sites share the keys. */
export function challengeKeysOf({
  challengeKeys,
}: Pick<RuntimeBundle, 'challengeKeys'>): ChallengeKey[] {
  return challengeKeys.slice(0, botLimits.keysMax).map(({ id, secret }) => {
    if (secret.length !== keyBytes) throw invalid(`challenge key ${id} has a wrong length`);
    return secret;
  });
}

/**
 * Finds what a site demands; nothing where it has no bot protection. Errors: AppError
 * bundle_invalid for a mode, a list or a verifier that does not fit.
 */
export function botProtectionOf(
  bundle: Pick<RuntimeBundle, 'ipLists' | 'verifiers'>,
  sets: IpSets,
): (site: Pick<RuntimeSite, 'name' | 'hosts' | 'bot'>) => BotConfig | undefined {
  const lists = new Map(bundle.ipLists.map((list) => [list.id, list]));
  const verifierFor = verifiersOf(bundle.verifiers);
  return ({ name, hosts, bot }) => {
    if (bot === undefined) return undefined;
    const mode = botModes.find((one) => one === bot.mode);
    if (mode === undefined) throw invalid(`site ${name}: bot mode "${bot.mode}" is not known`);
    const trusted = bot.trustedIpListIds.map((id) => {
      const list = lists.get(id);
      if (list === undefined) throw invalid(`site ${name}: IP list ${id} is missing`);
      return sets.of(list);
    });
    const { trustedIpListIds: _lists, underAttack, underAttackUntil, ...fields } = plain(bot);
    return {
      ...fields,
      mode,
      ...(underAttack ? { underAttackUntilMs: endOf(underAttackUntil) } : {}),
      challengePaths: bot.challengePaths.map(readStatedPath),
      exemptPaths: bot.exemptPaths.map(readStatedPath),
      trusted,
      ...(mode === 'human_verification' ? verifierFor(hosts) : {}),
    };
  };
}

const botModes: readonly BotMode[] = ['off', 'browser_check', 'human_verification'];

/** In milliseconds; infinite for what has no end. */
const endOf = (at: Timestamp | undefined): number =>
  at === undefined ? Infinity : timestampMs(at);

const verifierKinds = ['turnstile', 'hcaptcha', 'recaptcha', 'recaptcha_score'] as const;

/** Finds the verifier of a site: the one that names a host of it, else the one for all. */
function verifiersOf(
  verifiers: readonly RuntimeVerifier[],
): (hosts: readonly string[]) => Pick<BotConfig, 'verifier'> {
  const byHost = new Map<string, VerifierConfig>();
  for (const verifier of verifiers) {
    const { hosts, ...fields } = plain(verifier);
    const kind = verifierKinds.find((one) => one === fields.kind);
    if (kind === undefined) throw invalid(`verifier ${fields.id}: its kind is not known`);
    for (const url of [fields.scriptUrl, fields.verifyUrl]) {
      if (!URL.canParse(url)) throw invalid(`verifier ${fields.id}: an address is no URL`);
    }
    for (const host of hosts) byHost.set(host, { ...fields, kind });
  }
  return (hosts) => {
    const named = hosts.map((host) => byHost.get(host)).find((one) => one !== undefined);
    const verifier = named ?? byHost.get('*');
    return verifier === undefined ? {} : { verifier };
  };
}

function invalid(message: string): AppError {
  return new AppError('bundle_invalid', message, { source: 'config' });
}
