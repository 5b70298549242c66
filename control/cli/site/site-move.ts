/** `waf site export`, `import`, `preview` and `override`: a site as a whole. */

import { writeFileSync } from 'node:fs';
import {
  SitePolicyOverrideSchema,
  type SitePolicyOverride,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import { AppError } from '../../../base/errors.ts';
import { againWhenChanged, readAt } from '../change-attempts.ts';
import type { CommandContext, CommandDefinition, FlagValues } from '../command.ts';
import { switchFlag, textFlag } from '../command.ts';
import { flagsOf, readFields, type FieldFlag } from '../field-flags.ts';
import { readInputObject } from '../input.ts';
import { nameArgument } from '../named-resource.ts';
import type { Table } from '../output.ts';
import { readMessage, showMessage, showRemoved } from '../show.ts';
import { withNames } from '../shown-names.ts';
import { siteTable } from './site-table.ts';

const idArgument = [nameArgument('site')];

const overrideFlags: readonly FieldFlag[] = [
  {
    flags: '--paranoia <level>',
    field: 'blockingParanoiaLevel',
    summary: 'blocking paranoia level, {bounds}',
  },
  {
    flags: '--detection-paranoia <level>',
    field: 'detectionParanoiaLevel',
    summary: 'detection paranoia level, {bounds}',
  },
  {
    flags: '--threshold <score>',
    field: 'inboundAnomalyScoreThreshold',
    summary: 'inbound anomaly score threshold',
  },
  {
    flags: '--outbound-threshold <score>',
    field: 'outboundAnomalyScoreThreshold',
    summary: 'outbound anomaly score threshold',
  },
  {
    flags: '--sampling <percent>',
    field: 'samplingPercentage',
    summary: 'share of requests that are inspected',
  },
  { flags: '--rationale <text>', field: 'rationale', summary: 'why' },
];

/** Commands on the portable form, the compiled form and the override of a site. */
export const siteMoveCommands: readonly CommandDefinition[] = [
  {
    path: ['site', 'export'],
    summary: 'Write a site, or all sites, with all they need',
    help: 'What is written holds private keys: it gets mode 0600. Without --file it is printed.',
    arguments: [{ name: '[site]', summary: 'id or name; none for all sites', resource: 'site' }],
    flags: [{ flags: '--file <file>', summary: 'where to write' }],
    run: async (context, [id = ''], flags) => {
      const { SiteConfigurationSchema, SiteConfigurationArchiveSchema } =
        await import('../../../proto/gen/waf/v1/site_pb.ts');
      const { toJson } = await import('@bufbuild/protobuf');
      const { sites } = await context.api();
      const { configuration } =
        id === '' ? { configuration: undefined } : await sites.exportSite({ id });
      const { archive } = id === '' ? await sites.exportSites({}) : { archive: undefined };
      const value =
        configuration === undefined
          ? archive && toJson(SiteConfigurationArchiveSchema, archive)
          : toJson(SiteConfigurationSchema, configuration);
      writeOut(context, `${JSON.stringify(value ?? null, null, 2)}\n`, textFlag(flags, 'file'));
      return 0;
    },
  },
  {
    path: ['site', 'import'],
    summary: 'Create sites from an export',
    help: 'Takes one configuration or an archive of several; - reads standard input.',
    arguments: [{ name: '<file>', summary: 'file, or -' }],
    published: true,
    run: async (context, [file = '']) => {
      const { SiteConfigurationSchema } = await import('../../../proto/gen/waf/v1/site_pb.ts');
      const { toJson } = await import('@bufbuild/protobuf');
      const { SiteSchema } = await import('../../../proto/gen/waf/v1/site_pb.ts');
      const { sites } = await context.api();
      const value = readInputObject(file);
      const list = Array.isArray(value['configurations']) ? value['configurations'] : [value];
      const made = [];
      for (const [at, one] of list.entries()) {
        const what = `configuration ${at + 1}`;
        const configuration = await readMessage(
          SiteConfigurationSchema,
          one as Record<string, unknown>,
          what,
        );
        const { site } = await sites.importSite({ configuration });
        if (site !== undefined) made.push(site);
      }
      context.output.result(
        made.map((site) => toJson(SiteSchema, site)),
        await withNames(context, siteTable(made)),
      );
      return 0;
    },
  },
  {
    path: ['site', 'preview'],
    summary: 'Show the configuration of a site as nodes get it',
    arguments: idArgument,
    run: async (context, [id = '']) => {
      const { sites } = await context.api();
      const { site } = await sites.getSite({ id });
      const preview = await sites.previewCompiledConfig(site === undefined ? {} : { site });
      process.stdout.write(`${JSON.stringify(preview.compiledJson ?? {}, null, 2)}\n`);
      return 0;
    },
  },
  {
    path: ['site', 'override'],
    summary: 'Show, set or remove what a site changes in its policy',
    help: 'Example: waf site override ID --paranoia 2 --threshold 10. Unspecified options are unchanged.',
    arguments: idArgument,
    flags: [
      ...flagsOf(SitePolicyOverrideSchema, overrideFlags),
      { flags: '--remove', summary: 'use the policy as it is' },
    ],
    published: true,
    run: runOverride,
  },
];

async function runOverride(
  context: CommandContext,
  [siteId = '']: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const { create, toJson } = await import('@bufbuild/protobuf');
  const { sites } = await context.api();
  if (switchFlag(flags, 'remove')) {
    await sites.deleteSitePolicyOverride({ siteId });
    return showRemoved(context, 'override of site', siteId);
  }
  const values = readFields(SitePolicyOverrideSchema, overrideFlags, flags);
  const { override } =
    Object.keys(values).length === 0
      ? await sites.getSitePolicyOverride({ siteId })
      : await againWhenChanged(async () => {
          const present = await presentOverride(context, siteId);
          const { createdAt: _created, updatedAt, ...own } = present ?? {};
          const value = toJson(SitePolicyOverrideSchema, create(SitePolicyOverrideSchema, own));
          return sites.upsertSitePolicyOverride({
            override: await readMessage(
              SitePolicyOverrideSchema,
              { ...value, siteId, ...values },
              'flags',
            ),
            expectedUpdatedAt: readAt(updatedAt),
          });
        });
  if (override === undefined) return 0;
  return showMessage(context, override, overrideTable(override));
}

/** What the site changes already. */
async function presentOverride(
  context: CommandContext,
  siteId: string,
): Promise<SitePolicyOverride | undefined> {
  const { Code, ConnectError } = await import('@connectrpc/connect');
  try {
    return (await (await context.api()).sites.getSitePolicyOverride({ siteId })).override;
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw error;
  }
}

function overrideTable(override: SitePolicyOverride): Table {
  const text = (value: number | undefined): string => (value === undefined ? '-' : String(value));
  return {
    columns: ['SITE', 'BLOCKING', 'DETECTION', 'INBOUND', 'OUTBOUND', 'SAMPLING'],
    ids: { SITE: ['site'] },
    rows: [
      [
        override.siteId,
        text(override.blockingParanoiaLevel),
        text(override.detectionParanoiaLevel),
        text(override.inboundAnomalyScoreThreshold),
        text(override.outboundAnomalyScoreThreshold),
        text(override.samplingPercentage),
      ],
    ],
  };
}

/** Writes secrets so that only the operator reads them. Errors: AppError bad_flag. */
function writeOut(context: CommandContext, text: string, file: string | undefined): void {
  if (file === undefined || file === '-') {
    process.stdout.write(text);
    return;
  }
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new AppError('bad_flag', `cannot write ${file}: it must not exist yet`, {
      source: 'config',
      cause: error,
    });
  }
  context.output.note(`wrote ${file}; it may hold private keys`);
}
