/** `waf crs update`: a signed release of CRS, what it would change, and the move to it. */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CrsRuleset } from '../../../proto/gen/waf/v1/crs_pb.ts';
import type { Policy } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { allPages } from '../all-pages.ts';
import { againWhenChanged } from '../change-attempts.ts';
import type { CommandContext, CommandDefinition, FlagValues } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { badFlag, readInput, readSeconds } from '../input.ts';
import { leaveFlag } from '../left-behind.ts';
import { waitFor } from '../policy-progress.ts';
import { printable } from '../show.ts';
import { readShare, shareFlag, startShadow } from './shadow-commands.ts';
import { requireOverridesLeft } from './left-overrides.ts';

/** A policy beside what the new ruleset changes in it. */
interface Move {
  readonly policy: string;
  readonly policyId: string;
  readonly from: string;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly overridesWithoutRule: number;
  readonly switched: boolean;
  /** The command that moves it back. */
  readonly back: string;
}

/** The command. */
export const crsUpdateCommand: CommandDefinition = {
  path: ['crs', 'update'],
  summary: 'Import a signed release of CRS and show what it changes; --switch moves policies',
  help:
    'Takes a file, else a release of the mirror in the setting crs.mirror. The signature is checked\n' +
    'against the keys in the setting crs.signing_keys, which is the key of the CRS project unless\n' +
    'set. Without --switch no policy changes. A policy moves back with the command that is printed.',
  arguments: [{ name: '[archive]', summary: 'archive; without one the mirror is asked' }],
  flags: [
    { flags: '--signature <file>', summary: 'OpenPGP signature; default: ARCHIVE.asc' },
    { flags: '--key <file>', summary: 'public key; default: security.asc beside the archive' },
    {
      flags: '--release <version>',
      summary: 'of the mirror, for example 4.28.0',
      default: 'latest',
    },
    {
      flags: '--policy <policy>',
      summary: 'only this policy; default: all with an older CRS of the same major; repeatable',
      repeatable: true,
      resource: 'policy',
    },
    { flags: '--switch', summary: 'move the policies to the release' },
    {
      flags: '--shadow <time>',
      summary: 'compare it with live traffic first: 30m, 2h, 1d; nothing is blocked by it',
    },
    shareFlag,
    leaveFlag,
  ],
  published: true,
  run: update,
};

async function update(
  context: CommandContext,
  [path]: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const span = textFlag(flags, 'shadow');
  const seconds = span === undefined ? 0 : readSeconds(span, '--shadow');
  if (seconds > 0 && switchFlag(flags, 'switch')) {
    throw badFlag('--shadow and --switch exclude each other');
  }
  const sharePercent = await readShare(flags);
  const release = path === undefined ? mirrorOf(flags) : signedFile(path, flags);
  const { system } = await context.api();
  const { ruleset } = await waitFor(context, 'Compiling the ruleset', (options) =>
    system.importCrsRuleset(release, options),
  );
  if (ruleset === undefined) throw badFlag('the service returned no ruleset');
  const { id, version, signedBy } = ruleset;
  context.output.note(`${id}: CRS ${version}, signed by ${signedBy}`);
  const moves: Move[] = [];
  for (const policy of await policiesFor(context, ruleset, flags)) {
    moves.push(await move(context, policy, ruleset, flags));
  }
  context.output.result(
    { rulesetId: id, version, signedBy, policies: moves },
    {
      columns: ['POLICY', 'FROM', 'ADDED', 'REMOVED', 'CHANGED', 'LOST OVERRIDES', 'SWITCHED'],
      rows: moves.map((one) => [
        one.policy,
        one.from,
        ...[one.added, one.removed, one.changed, one.overridesWithoutRule].map(String),
        one.switched ? 'yes' : 'no',
      ]),
    },
  );
  noteNext(context, moves, id);
  if (seconds === 0) return 0;
  for (const { policyId } of moves) {
    const wanted = { policyId, crsRulesetId: id, durationSeconds: seconds, sharePercent };
    await startShadow(context, wanted);
  }
  return 0;
}

function mirrorOf(flags: FlagValues) {
  for (const name of ['signature', 'key']) {
    if (textFlag(flags, name) !== undefined) throw badFlag(`--${name} wants an archive`);
  }
  return { mirrorRelease: textFlag(flags, 'release') ?? 'latest' };
}

function signedFile(path: string, flags: FlagValues) {
  const signature = textFlag(flags, 'signature') ?? `${path}.asc`;
  const key = textFlag(flags, 'key') ?? join(dirname(path), 'security.asc');
  const missing = [path, signature, key].find((one) => one !== '-' && !existsSync(one));
  if (missing !== undefined) throw badFlag(`${missing} is not there: give --signature and --key`);
  return {
    archive: readInput(path),
    signature: readInput(signature),
    publicKey: readInput(key),
  };
}

/** The policies that a release concerns, by name. */
async function policiesFor(
  context: CommandContext,
  ruleset: CrsRuleset,
  flags: FlagValues,
): Promise<Policy[]> {
  const { policies, crs } = await context.api();
  const named = listFlag(flags, 'policy');
  const all = await allPages((page) => policies.listPolicies({ page }));
  const own = all.filter((one) => !one.isTemplate && one.crsRulesetId !== ruleset.id);
  if (named.length > 0) return own.filter(({ id }) => named.includes(id));
  const rulesets = await allPages((page) => crs.listCrsRulesets({ page }));
  const versions = new Map(rulesets.map(({ id, version }) => [id, numbers(version)]));
  const next = numbers(ruleset.version);
  return own.filter(({ crsRulesetId }) => {
    const now = versions.get(crsRulesetId) ?? [];
    return now[0] === next[0] && isOlder(now, next);
  });
}

async function move(
  context: CommandContext,
  { id: policyId, name, crsRulesetId: from }: Policy,
  { id: crsRulesetId }: CrsRuleset,
  flags: FlagValues,
): Promise<Move> {
  const { policies } = await context.api();
  const impact = await policies.previewCrsImpact({ policyId, crsRulesetId });
  const switched = switchFlag(flags, 'switch');
  if (switched) {
    await requireOverridesLeft(context, flags, policyId, crsRulesetId);
    await againWhenChanged(async () => {
      const { policy } = await policies.getPolicy({ id: policyId });
      const revision = policy?.revision ?? 0n;
      return waitFor(context, `Compiling rules of ${printable(name)}`, (options) =>
        policies.setActiveCrsRuleset({ policyId, revision, crsRulesetId }, options),
      );
    }, false);
  }
  return {
    policy: name,
    policyId,
    from,
    added: impact.addedRuleIds.length,
    removed: impact.removedRuleIds.length,
    changed: impact.changedRules.length,
    overridesWithoutRule: impact.orphanedOverrides.length,
    switched,
    back: `waf policy ruleset ${policyId} ${from}`,
  };
}

function noteNext({ output }: CommandContext, moves: readonly Move[], rulesetId: string): void {
  if (moves.length === 0) {
    output.note('No policy has an older CRS of the same major version; --policy names one.');
  }
  for (const { policyId, switched, back } of moves) {
    if (switched) output.note(`Back: ${back}`);
    else output.note(`Rule by rule: waf policy impact ${policyId} ${rulesetId}`);
  }
}

function numbers(version: string): number[] {
  return version
    .replace(/^OWASP_CRS\//, '')
    .split('.')
    .map(Number);
}

function isOlder(left: readonly number[], right: readonly number[]): boolean {
  const at = right.findIndex((number, index) => number !== (left[index] ?? 0));
  return at >= 0 && (left[at] ?? 0) < right[at]!;
}
