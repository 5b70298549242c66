/** `waf cert dns-…`: accounts at DNS providers. Credentials are read, never shown. */

import type { ACMEDNSProvider } from '../../../proto/gen/waf/v1/cert_pb.ts';
import { againWhenChanged, readAt } from '../change-attempts.ts';
import type { CommandDefinition, FlagDefinition, FlagValues } from '../command.ts';
import { listFlag, textFlag } from '../command.ts';
import { readInput, readPairs, wholeNumber } from '../input.ts';
import { changeList, changePairs, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import type { Table } from '../output.ts';
import { callCommand, deleteCommand } from '../regular-commands.ts';
import { only, showMessage } from '../show.ts';

const idArgument = [nameArgument('dns-provider')];
const settingFlags: readonly FlagDefinition[] = [
  { flags: '--zone <domain>', summary: 'zone it answers for; repeatable', repeatable: true },
  { flags: '--setting <name=value>', summary: 'setting; repeatable', repeatable: true },
  { flags: '--propagation <seconds>', summary: 'wait for the record to spread' },
];
const credentialsFlag = { flags: '--credentials <file>', summary: 'JSON file; - reads stdin' };

/** Commands on accounts at DNS providers. */
export const certDnsCommands: readonly CommandDefinition[] = [
  callCommand({
    path: ['cert', 'dns-list'],
    summary: 'List accounts at DNS providers',
    call: ({ certs }) => certs.listDNSProviders({}),
    table: ({ items }) => providerTable(items),
  }),
  {
    path: ['cert', 'dns-drivers'],
    summary: 'List the kinds of DNS provider',
    run: async (context) => {
      const { drivers } = await (await context.api()).certs.listDNSProviderDrivers({});
      context.output.result(drivers, { columns: ['DRIVER'], rows: drivers.map((one) => [one]) });
      return 0;
    },
  },
  callCommand({
    path: ['cert', 'dns-create'],
    summary: 'Add an account at a DNS provider',
    help: 'Example: waf cert dns-create --name cf --provider cloudflare --credentials token.json',
    flags: [
      { flags: '--name <name>', summary: 'name for people', required: true },
      { flags: '--provider <driver>', summary: 'kind of provider', required: true },
      { ...credentialsFlag, required: true },
      ...settingFlags,
    ],
    call: ({ certs }, _args, flags) =>
      certs.createDNSProvider({
        name: textFlag(flags, 'name') ?? '',
        provider: textFlag(flags, 'provider') ?? '',
        ...readSettings(flags),
        credentialsJson: readInput(textFlag(flags, 'credentials') ?? ''),
      }),
    table: ({ provider }) => providerTable(only(provider)),
  }),
  {
    path: ['cert', 'dns-update'],
    summary: 'Change an account at a DNS provider; unspecified options are unchanged',
    help: 'Zones and settings are added, unless --replace or --remove is given.',
    arguments: idArgument,
    flags: [
      { flags: '--name <name>', summary: 'name for people' },
      { flags: '--status <status>', summary: 'use it or not', choices: ['active', 'disabled'] },
      credentialsFlag,
      ...settingFlags,
      ...listChangeFlags,
    ],
    run: async (context, [id = ''], flags) => {
      const { certs } = await context.api();
      const asked = readSettings(flags);
      const credentials = textFlag(flags, 'credentials');
      const credentialsJson = credentials === undefined ? new Uint8Array() : readInput(credentials);
      const response = await againWhenChanged(async () => {
        const { provider: before } = await certs.getDNSProvider({ id });
        const answer = await certs.updateDNSProvider({
          id,
          name: textFlag(flags, 'name') ?? before?.name ?? '',
          provider: before?.provider ?? '',
          ...changedSettings(before, asked, flags),
          propagationSeconds: asked.propagationSeconds || (before?.propagationSeconds ?? 0),
          status: textFlag(flags, 'status') ?? '',
          credentialsJson,
          expectedUpdatedAt: readAt(before?.updatedAt),
        });
        noteChange(context.output, 'taken away', partsOf(before), partsOf(answer.provider));
        return answer;
      });
      return showMessage(context, response, providerTable(only(response.provider)));
    },
  },
  deleteCommand({
    path: ['cert', 'dns-delete'],
    summary: 'Remove an account at a DNS provider that no site needs',
    arguments: idArgument,
    kind: 'DNS provider',
    call: ({ certs }, id) => certs.deleteDNSProvider({ id }),
  }),
];

/** Zones and settings after the change; unspecified ones are unchanged, also with --replace. */
function changedSettings(
  before: ACMEDNSProvider | undefined,
  asked: ReturnType<typeof readSettings>,
  flags: FlagValues,
) {
  const mode = listMode(flags);
  const { zones = [], settings = {} } = before ?? {};
  const isNamed = Object.keys(asked.settings).length > 0;
  return {
    zones: asked.zones.length === 0 ? zones : changeList(mode, zones, asked.zones, '--zone'),
    settings: isNamed ? changePairs(mode, settings, asked.settings, '--setting') : settings,
  };
}

function partsOf(provider: ACMEDNSProvider | undefined): string[] {
  return [...(provider?.zones ?? []), ...Object.keys(provider?.settings ?? {})];
}

function readSettings(flags: FlagValues) {
  return {
    zones: [...listFlag(flags, 'zone')],
    settings: readPairs(listFlag(flags, 'setting'), '--setting'),
    propagationSeconds: wholeNumber(textFlag(flags, 'propagation') ?? '0', '--propagation'),
  };
}

function providerTable(providers: readonly ACMEDNSProvider[]): Table {
  return {
    columns: ['ID', 'NAME', 'PROVIDER', 'ZONES', 'STATUS', 'HEALTH'],
    rows: providers.map((one) => [
      one.id,
      one.name,
      one.provider,
      one.zones.length === 0 ? 'all' : one.zones.join(' '),
      one.status,
      one.health,
    ]),
  };
}
