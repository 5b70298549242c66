/** `waf site tls`: how clients of a site are served over TLS. */

import type { Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { againWhenChanged, isRevisionGiven } from '../change-attempts.ts';
import { switchFlag, textFlag, type CommandDefinition, type FlagValues } from '../command.ts';
import { badFlag } from '../input.ts';
import { withListeners } from '../listeners.ts';
import { nameArgument } from '../named-resource.ts';
import { showMessage } from '../show.ts';
import { curlOf } from '../try-lines.ts';
import { httpBehaviors, revisionOf } from './site-change.ts';
import type { Table } from '../output.ts';

const versions: Readonly<Record<string, string>> = {
  '1.2': 'TLS_VERSION_1_2',
  '1.3': 'TLS_VERSION_1_3',
};

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
    { flags: '--min-version <version>', summary: 'lowest TLS', choices: Object.keys(versions) },
    { flags: '--http <behavior>', summary: 'plain HTTP', choices: Object.keys(httpBehaviors) },
    { flags: '--hsts <seconds>', summary: 'tell browsers to use TLS only; 0 for not at all' },
    { flags: '--hsts-subdomains <yes|no>', summary: 'its subdomains too', choices: ['yes', 'no'] },
  ],
  published: true,
  run: async (context, [id = ''], flags) => {
    const { SiteSchema, GetSiteResponseSchema } =
      await import('../../../proto/gen/waf/v1/site_pb.ts');
    const { create, fromJson } = await import('@bufbuild/protobuf');
    const { sites } = await context.api();
    const { tls, mask } = readTls(flags);
    let { site } = await sites.getSite({ id });
    if (mask.length > 0) {
      const change = {
        site: fromJson(SiteSchema, { id, tls } as never),
        updateMask: mask.join(','),
      };
      ({ site } = await againWhenChanged(async () => {
        const revision = await revisionOf(context, id, flags);
        return sites.updateSite({ ...change, revision });
      }, isRevisionGiven(flags)));
    }
    const response = create(GetSiteResponseSchema, site === undefined ? {} : { site });
    await showMessage(context, response, tlsTable(site));
    if (site !== undefined && mask.length > 0) {
      context.output.line(withListeners(context.options, tryLine(site)));
    }
    return 0;
  },
};

/** What the flags change. Errors: AppError bad_flag. */
function readTls(flags: FlagValues): { tls: object; mask: string[] } {
  const tls: Record<string, unknown> = {};
  const cert = textFlag(flags, 'cert');
  const modes = [cert !== undefined, switchFlag(flags, 'acme'), switchFlag(flags, 'off')];
  if (modes.filter(Boolean).length > 1) {
    throw badFlag('--cert, --acme and --off exclude each other: give one of them');
  }
  if (cert !== undefined) Object.assign(tls, { mode: 'TLS_MODE_UPLOADED', certId: cert });
  if (modes[1]) Object.assign(tls, { mode: 'TLS_MODE_MANAGED_ACME', certId: '' });
  if (modes[2]) Object.assign(tls, { mode: 'TLS_MODE_NONE', certId: '' });
  const version = textFlag(flags, 'minVersion');
  if (version !== undefined) tls['minVersion'] = versions[version];
  const http = textFlag(flags, 'http');
  if (http !== undefined) tls['httpBehavior'] = httpBehaviors[http];
  const hsts = textFlag(flags, 'hsts');
  if (hsts !== undefined) {
    if (!/^\d{1,8}$/.test(hsts)) throw badFlag('--hsts wants whole seconds, for example 31536000');
    tls['hstsMaxAgeSeconds'] = Number(hsts);
  }
  const subdomains = textFlag(flags, 'hstsSubdomains');
  if (subdomains !== undefined) tls['hstsIncludeSubdomains'] = subdomains === 'yes';
  return { tls, mask: Object.keys(tls).map((name) => `tls.${name}`) };
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
