/** `waf site create`: one host, one or more origins. */

import { detectionApplications } from '../../domain/site/site-choices.ts';
import type { CommandDefinition } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { originTlsFlags, readOriginTls } from './origin-tls.ts';
import { readMessage } from '../show.ts';
import { withNames } from '../shown-names.ts';
import { chooseForSite } from './site-option.ts';
import { siteTable } from './site-table.ts';

/** The command. */
export const siteCreateCommand: CommandDefinition = {
  path: ['site', 'create'],
  summary: 'Create a site that serves at once',
  help:
    'The origin is asked for its first page; where that is a known application, the command that\n' +
    'keeps its editors from being blocked is printed.\n' +
    'Example: waf site create --name shop --host shop.example --upstream http://127.0.0.1:3000',
  flags: [
    { flags: '--name <name>', summary: 'name for people', required: true },
    { flags: '--host <host>', summary: 'host name or *.domain', required: true },
    { flags: '--alias <host>', summary: 'further host; repeatable', repeatable: true },
    {
      flags: '--upstream <url>',
      summary: 'origin; repeatable',
      repeatable: true,
      required: true,
    },
    ...originTlsFlags,
    { flags: '--policy <policy>', summary: 'id or name; default is Light', resource: 'policy' },
    {
      flags: '--application <name>',
      summary: 'known application, wordpress or wordpress@/blog; repeatable',
      repeatable: true,
    },
    { flags: '--detection', summary: 'record attacks, block nothing' },
    { flags: '--no-waf', summary: 'no inspection' },
  ],
  published: true,
  run: async (context, _args, flags) => {
    const { SiteSchema, TlsMode, WafMode } = await import('../../../proto/gen/waf/v1/site_pb.ts');
    const { ResourceStatus } = await import('../../../proto/gen/waf/v1/common_pb.ts');
    const { toJson } = await import('@bufbuild/protobuf');
    const { UpstreamTlsSchema } = await import('../../../proto/gen/waf/v1/upstream_pb.ts');
    const { sites } = await context.api();
    const given = readOriginTls(flags);
    const named = Object.keys(given).length > 0;
    const tls = named ? { tls: await readMessage(UpstreamTlsSchema, given, 'flags') } : {};
    const applications = listFlag(flags, 'application').join(',');
    const { site } = await sites.createSite({
      recognizeApplication: applications === '',
      site: {
        name: textFlag(flags, 'name') ?? '',
        primaryHost: textFlag(flags, 'host') ?? '',
        aliases: [...listFlag(flags, 'alias')],
        upstreams: listFlag(flags, 'upstream').map((url) => ({
          inline: { url, weight: 1 },
          ...tls,
        })),
        tls: { mode: TlsMode.NONE },
        waf: {
          enabled: switchFlag(flags, 'waf'),
          policyId: textFlag(flags, 'policy') ?? '',
          mode: switchFlag(flags, 'detection') ? WafMode.DETECTION : WafMode.BLOCKING,
        },
        status: ResourceStatus.ACTIVE,
      },
    });
    if (site !== undefined && applications !== '') {
      await chooseForSite(context, detectionApplications, site.id, applications);
    }
    const sitesMade = site === undefined ? [] : [site];
    context.output.result(
      sitesMade.map((one) => toJson(SiteSchema, one))[0] ?? null,
      await withNames(context, siteTable(sitesMade)),
    );
    return 0;
  },
};
