/** `waf site tls`: how clients of a site are served over TLS. */

import { TlsConfigSchema, type Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { switchFlag, textFlag, type CommandDefinition, type FlagValues } from '../command.ts';
import { flagsOf, readFields, type FieldFlag } from '../field-flags.ts';
import { badFlag } from '../input.ts';
import { withListeners } from '../listeners.ts';
import { nameArgument } from '../named-resource.ts';
import { curlOf } from '../try-lines.ts';
import { changeSite, changeWithin, showSite } from './change-site.ts';
import { httpBehaviors } from './site-change.ts';
import type { Table } from '../output.ts';

const fieldFlags: readonly FieldFlag[] = [
  {
    flags: '--min-version <version>',
    field: 'minVersion',
    summary: 'lowest TLS',
    words: { '1.2': 'TLS_VERSION_1_2', '1.3': 'TLS_VERSION_1_3' },
  },
  {
    flags: '--http <behavior>',
    field: 'httpBehavior',
    summary: 'plain HTTP',
    words: httpBehaviors,
  },
  {
    flags: '--hsts <seconds>',
    field: 'hstsMaxAgeSeconds',
    summary: 'tell browsers to use TLS only; 0 for not at all',
    wanted: 'wants whole seconds, for example 31536000',
  },
  {
    flags: '--hsts-subdomains <yes|no>',
    field: 'hstsIncludeSubdomains',
    summary: 'its subdomains too',
  },
];

/** The command. */
export const siteTlsCommand: CommandDefinition = {
  path: ['site', 'tls'],
  summary: 'Show or change how clients of a site are served over TLS',
  help:
    'Without flags it shows the settings.\n' +
    'Example: waf site tls shop --cert shop-cert --http redirect --hsts 31536000',
  arguments: [nameArgument('site')],
  flags: [
    {
      flags: '--cert <certificate>',
      summary: 'serve with this uploaded certificate',
      resource: 'certificate',
    },
    { flags: '--acme', summary: 'serve with a certificate that is ordered and renewed' },
    { flags: '--off', summary: 'plain HTTP only' },
    ...flagsOf(TlsConfigSchema, fieldFlags),
  ],
  published: true,
  run: async (context, [id = ''], flags) => {
    const change = changeWithin('tls', readTls(flags));
    const { site } = await changeSite(context, id, () => change);
    await showSite(context, site, tlsTable(site));
    if (site !== undefined && change.mask.length > 0) {
      context.output.line(withListeners(context.options, tryLine(site)));
    }
    return 0;
  },
};

/** The fields that the flags change. Errors: AppError bad_flag. */
function readTls(flags: FlagValues): Record<string, unknown> {
  const cert = textFlag(flags, 'cert');
  const [acme, off] = [switchFlag(flags, 'acme'), switchFlag(flags, 'off')];
  if ([cert !== undefined, acme, off].filter(Boolean).length > 1) {
    throw badFlag('--cert, --acme and --off exclude each other: give one of them');
  }
  return {
    ...(cert !== undefined && { mode: 'TLS_MODE_UPLOADED', certId: cert }),
    ...(acme && { mode: 'TLS_MODE_MANAGED_ACME', certId: '' }),
    ...(off && { mode: 'TLS_MODE_NONE', certId: '' }),
    ...readFields(TlsConfigSchema, fieldFlags, flags),
  };
}

function tlsTable(site: Site | undefined): Table {
  const { tls } = site ?? {};
  const rows = [
    ['hosts', [site?.primaryHost ?? '', ...(site?.aliases ?? [])].join(' ')],
    ['TLS', ['', 'none', 'managed certificate', 'uploaded certificate'][tls?.mode ?? 0] ?? ''],
    ['certificate', tls?.certId ?? ''],
    ['lowest version', tls?.minVersion === 2 ? 'TLS 1.3' : 'TLS 1.2'],
    ['plain HTTP', ['', 'redirected', 'authorities only', 'served'][tls?.httpBehavior ?? 0] ?? ''],
    ['HSTS', hstsText(tls)],
  ];
  return { columns: ['SETTING', 'VALUE'], rows };
}

function hstsText(tls: Site['tls']): string {
  if (tls === undefined || tls.hstsMaxAgeSeconds === 0) return 'off';
  const subdomains = tls.hstsIncludeSubdomains ? ', subdomains too' : '';
  return `${tls.hstsMaxAgeSeconds} s${subdomains}`;
}

/** One line to try, and what it answers. */
function tryLine(site: Site): string {
  const secure = (site.tls?.mode ?? 0) > 1;
  return `Try: ${curlOf(site)}/ ${secure ? "shows the site's answer" : 'is answered without TLS'}`;
}
