/** `waf bot verifier-…`: services of others that tell people from programs, for sites that ask. */

import type { JsonObject } from '@bufbuild/protobuf';
import { againWhenChanged, readAt } from '../change-attempts.ts';
import {
  listFlag,
  textFlag,
  type CommandContext,
  type CommandDefinition,
  type FlagValues,
} from '../command.ts';
import { badFlag, readInputText } from '../input.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';

const settingKey = 'bot.verifiers';
const kinds = ['turnstile', 'hcaptcha', 'recaptcha', 'recaptcha_score'] as const;

/** A verifier as the setting has it; its secret reads `configured`. */
interface Verifier {
  readonly id: string;
  readonly kind?: string;
  readonly hosts?: readonly string[];
  readonly siteKey?: string;
  readonly secret?: string;
  readonly scriptUrl?: string;
  readonly verifyUrl?: string;
  readonly minScore?: number;
  readonly fallback?: boolean;
}

const idArgument = [{ name: '<verifier>', summary: 'its name: letters, digits and hyphens' }];

/** Commands on verifiers. */
export const botVerifierCommands: readonly CommandDefinition[] = [
  {
    path: ['bot', 'verifier-list'],
    summary: 'List third-party services that verify people',
    run: async (context) => {
      show(context, (await read(context)).verifiers);
      return 0;
    },
  },
  {
    path: ['bot', 'verifier-set'],
    summary: 'Let a third-party service verify people; unspecified options are unchanged',
    help:
      'For sites in mode human. Visitors load the script of the service; the node sends it their\n' +
      'addresses. "*" stands for all sites that no verifier names.\n' +
      'Example: waf bot verifier-set shop --kind turnstile --host shop.example --site-key KEY \\\n' +
      '  --secret-file secret.txt   (- reads standard input)',
    arguments: idArgument,
    flags: [
      { flags: '--kind <kind>', summary: 'the service', choices: kinds },
      { flags: '--host <host>', summary: 'host of a site that uses it', repeatable: true },
      { flags: '--site-key <key>', summary: 'the public key that the service gave you' },
      { flags: '--secret-file <file>', summary: 'file with its secret; never shown again' },
      { flags: '--script-url <url>', summary: 'its script, where it is elsewhere' },
      { flags: '--verify-url <url>', summary: 'where it is asked, where that is elsewhere' },
      { flags: '--min-score <score>', summary: 'of recaptcha_score: least score, 0 to 1' },
      {
        flags: '--fallback <yes|no>',
        summary: 'who cannot use it answers the built-in question, programs too',
        choices: ['yes', 'no'],
      },
      ...listChangeFlags,
    ],
    published: true,
    run: async (context, [id = ''], flags) => {
      const secret = secretOf(flags);
      const kept = await change(context, (verifiers) => {
        const before = verifiers.find((one) => one.id === id);
        const after = changed(before ?? { id }, flags, secret);
        noteChange(context.output, '--host taken away', before?.hosts ?? [], after.hosts ?? []);
        return before === undefined
          ? [...verifiers, after]
          : verifiers.map((one) => (one.id === id ? after : one));
      });
      show(context, kept);
      context.output.note('Try: waf bot show SITE says human, and a browser shows the service');
      return 0;
    },
  },
  {
    path: ['bot', 'verifier-delete'],
    summary: 'Remove a verification service; the built-in question returns',
    arguments: idArgument,
    published: true,
    run: async (context, [id = '']) => {
      const kept = await change(context, (verifiers) => {
        const left = verifiers.filter((one) => one.id !== id);
        if (left.length === verifiers.length) throw badFlag(`no verifier has the name ${id}`);
        return left;
      });
      show(context, kept);
      return 0;
    },
  },
];

/** The secret from its file; undefined where none is named. Errors: AppError bad_flag. */
function secretOf(flags: FlagValues): string | undefined {
  const file = textFlag(flags, 'secretFile');
  return file === undefined ? undefined : readInputText(file).trim();
}

/** What the flags make of a verifier. Errors: AppError bad_flag. */
function changed(before: Verifier, flags: FlagValues, secret: string | undefined): Verifier {
  const hosts = listFlag(flags, 'host');
  const fallback = textFlag(flags, 'fallback');
  const score = textFlag(flags, 'minScore');
  if (score !== undefined && !/^(?:0|1|0?\.\d{1,3}|1\.0+)$/.test(score)) {
    throw badFlag('--min-score takes a number from 0 to 1');
  }
  const given = {
    kind: textFlag(flags, 'kind'),
    siteKey: textFlag(flags, 'siteKey'),
    secret,
    scriptUrl: textFlag(flags, 'scriptUrl'),
    verifyUrl: textFlag(flags, 'verifyUrl'),
    minScore: score === undefined ? undefined : Number(score),
    fallback: fallback === undefined ? undefined : fallback === 'yes',
    hosts:
      hosts.length === 0
        ? undefined
        : changeList(listMode(flags), before.hosts ?? [], hosts, '--host'),
  };
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  if (named.length === 0) throw badFlag('nothing to change: name a setting, as in --help');
  return { ...before, ...Object.fromEntries(named) };
}

async function read(context: CommandContext) {
  const { settings } = await (await context.api()).system.getSystemSettings({});
  const values = (settings?.values ?? {}) as Readonly<Record<string, unknown>>;
  const verifiers = (values[settingKey] ?? []) as readonly Verifier[];
  return { verifiers, updatedAt: settings?.updatedAt };
}

/** Keeps what `make` makes of the list that is kept; what is kept then. */
async function change(
  context: CommandContext,
  make: (verifiers: readonly Verifier[]) => readonly Verifier[],
): Promise<readonly Verifier[]> {
  const { system } = await context.api();
  return againWhenChanged(async () => {
    const { verifiers, updatedAt } = await read(context);
    const values = { [settingKey]: make(verifiers) } as unknown as JsonObject;
    await system.updateSystemSettings({ values, expectedUpdatedAt: readAt(updatedAt) });
    return (await read(context)).verifiers;
  });
}

function show({ output }: CommandContext, verifiers: readonly Verifier[]): void {
  const columns = ['VERIFIER', 'KIND', 'HOSTS', 'SITE KEY', 'SECRET', 'FALLBACK'];
  const rows = verifiers.map(({ id, kind = '', hosts = [], siteKey = '', secret, fallback }) => [
    ...[id, kind, hosts.join(' '), siteKey, secret === undefined ? 'missing' : 'configured'],
    fallback === false ? 'no' : 'yes',
  ]);
  output.result({ verifiers }, { columns, rows });
}
