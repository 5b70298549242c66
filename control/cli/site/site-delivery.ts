/** `waf site delivery` and its kin: what a site does for visitors beside protection. */

import { CookieSameSite, FieldChangeMode } from '../../../proto/gen/waf/v1/delivery_pb.ts';
import type { Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { hashPathPassword } from '../../../base/path-password.ts';
import type { CommandContext, CommandDefinition } from '../command.ts';
import { listFlag, textFlag } from '../command.ts';
import { badFlag, readInput, readInputObject } from '../input.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import type { Table } from '../output.ts';
import { changeSite, changeWithin, showSite } from './change-site.ts';

const idArgument = [nameArgument('site')];

/** Commands on the delivery of a site. */
export const siteDeliveryCommands: readonly CommandDefinition[] = [
  {
    path: ['site', 'delivery'],
    summary: 'Show or change redirects, users of paths, body limits, CORS and header fields',
    help:
      'A file names what is to change: redirects, rewrites, basicAuth, forwardAuth,\n' +
      'clientCertificates, bodyLimits, timeouts, securityTxt, cors, compression, stickySessions, requestFields, responseFields,\n' +
      'cookies, maintenance; what it does not name stays, an empty list removes. See\n' +
      'deploy/guides/delivery.md.\n' +
      'Example: waf site delivery shop --file delivery.yaml',
    arguments: idArgument,
    flags: [{ flags: '--file <file>', summary: 'JSON or YAML; - reads standard input' }],
    published: true,
    run: async (context, [id = ''], flags) => {
      const file = textFlag(flags, 'file');
      const named = file === undefined ? {} : readInputObject(file);
      await changeDelivery(context, id, () => named, file ?? '');
      return 0;
    },
  },
  {
    path: ['site', 'maintenance'],
    summary: 'Close a site for work on it, or open it again',
    help:
      'Visitors get 503; clients of allowed networks, and allowed paths, are served.\n' +
      'Example: waf site maintenance shop --state on --retry-after 600 --allow-network 192.0.2.0/24',
    arguments: idArgument,
    flags: [
      { flags: '--state <state>', summary: 'closed or not', choices: ['on', 'off'] },
      { flags: '--retry-after <seconds>', summary: 'when clients come again; 0 for no word' },
      { flags: '--title <text>', summary: 'title of the page' },
      { flags: '--message <text>', summary: 'text of the page' },
      {
        flags: '--allow-network <network>',
        summary: 'still served',
        repeatable: true,
      },
      { flags: '--allow-path <path>', summary: 'still served', repeatable: true },
      ...listChangeFlags,
    ],
    published: true,
    run: async (context, [id = ''], flags) => {
      const state = textFlag(flags, 'state');
      const seconds = textFlag(flags, 'retryAfter');
      if (seconds !== undefined && !/^\d{1,6}$/.test(seconds)) {
        throw badFlag('--retry-after takes a whole number');
      }
      const change = (site: Site | undefined): Record<string, unknown> => {
        const before = site?.delivery?.maintenance;
        const maintenance: Record<string, unknown> = {
          enabled: state === undefined ? (before?.enabled ?? false) : state === 'on',
          retryAfterSeconds: Number(seconds ?? before?.retryAfterSeconds ?? 0),
          title: textFlag(flags, 'title') ?? before?.title ?? '',
          message: textFlag(flags, 'message') ?? before?.message ?? '',
        };
        for (const [flag, field] of listFields) {
          const known = before?.[field] ?? [];
          const values = listFlag(flags, flag);
          const how = listMode(flags);
          const after = values.length === 0 ? known : changeList(how, known, values, flag);
          noteChange(context.output, 'taken away', known, after);
          maintenance[field] = after;
        }
        return { maintenance };
      };
      await changeDelivery(context, id, Object.keys(flags).length === 0 ? () => ({}) : change, '');
      return 0;
    },
  },
  {
    path: ['site', 'client-crl'],
    summary: 'Replace the revocation lists that certificates of clients are checked against',
    help:
      'PEM, or one list in DER; run it after each download. Connections of before get 421.\n' +
      'Example: waf site client-crl shop --file authority.crl',
    arguments: idArgument,
    flags: [
      { flags: '--file <file>', summary: 'certificate revocation lists; - reads standard input' },
      { flags: '--off', summary: 'check none' },
    ],
    published: true,
    run: async (context, [id = ''], flags) => {
      const file = textFlag(flags, 'file');
      const off = flags['off'] === true;
      if ((file === undefined) !== off) throw badFlag('name --file or --off');
      const crlPem = file === undefined ? '' : asPem(readInput(file));
      await changeDelivery(context, id, (site) => certificatesWith(site, crlPem), file ?? '');
      return 0;
    },
  },
  {
    path: ['site', 'hash-password'],
    summary: 'Print the hash of a password for users of paths',
    help:
      'The hash goes into basicAuth of waf site delivery, or of a manifest.\n' +
      'Example: waf site hash-password --password-stdin < password',
    flags: [{ flags: '--password-stdin', summary: 'read the password from standard input' }],
    run: async (context, _, flags) => {
      const { readNewPassword } = await import('../auth-prompt.ts');
      const password = await readNewPassword(flags['passwordStdin'] === true, 'Password');
      if (password === '') throw badFlag('the password is empty');
      const passwordHash = hashPathPassword(password);
      context.output.result({ passwordHash }, { columns: ['HASH'], rows: [[passwordHash]] });
      return 0;
    },
  },
];

const listFields = [
  ['allowNetwork', 'allowedNetworks'],
  ['allowPath', 'allowedPaths'],
] as const;

/** Authorities publish lists in DER mostly. Source: RFC 7468 section 6. */
function asPem(bytes: Uint8Array): string {
  const isDer = bytes[0] === 0x30;
  if (!isDer) return Buffer.from(bytes).toString('utf8');
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN X509 CRL-----\n${lines.join('\n')}\n-----END X509 CRL-----\n`;
}

function certificatesWith(site: Site | undefined, crlPem: string): Record<string, unknown> {
  const { caPem = '', optional = false } = site?.delivery?.clientCertificates ?? {};
  return { clientCertificates: { caPem, optional, crlPem } };
}

/** Changes what `change` names of the delivery, and shows all of it. */
async function changeDelivery(
  context: CommandContext,
  id: string,
  change: (before: Site | undefined) => Record<string, unknown>,
  name: string,
): Promise<void> {
  const make = (before: Site | undefined) => changeWithin('delivery', change(before));
  const { site } = await changeSite(context, id, make, { where: name });
  await showSite(context, site, deliveryTable(site));
}

function deliveryTable(site: Site | undefined): Table {
  const { delivery } = site ?? {};
  const rows: string[][] = [];
  const { maintenance } = delivery ?? {};
  const state = maintenance?.enabled === true ? 'on' : 'off';
  const open = [...(maintenance?.allowedNetworks ?? []), ...(maintenance?.allowedPaths ?? [])];
  rows.push(['maintenance', state, open.join(' ')]);
  for (const { host, path, target, status } of delivery?.redirects ?? []) {
    rows.push(['redirect', `${host}${path}`, `${status} ${target}`]);
  }
  for (const { path, target } of delivery?.rewrites ?? []) rows.push(['rewrite', path, target]);
  for (const { pathPrefix, users, open: free } of delivery?.basicAuth ?? []) {
    rows.push(['users', pathPrefix, free ? 'open' : users.map(({ name }) => name).join(' ')]);
  }
  for (const { pathPrefix, url, open: free } of delivery?.forwardAuth ?? []) {
    rows.push(['asked service', pathPrefix, free ? 'open' : url]);
  }
  const { caPem = '', crlPem = '', optional } = delivery?.clientCertificates ?? {};
  const asked = optional ? 'optional' : 'required';
  const checked = crlPem === '' ? '' : ', revocation checked';
  if (caPem !== '') rows.push(['client certificates', '/', asked + checked]);
  for (const { pathPrefix, maxBytes } of delivery?.bodyLimits ?? []) {
    rows.push(['body limit', pathPrefix, `${maxBytes} bytes`]);
  }
  for (const { pathPrefix, ...rule } of delivery?.timeouts ?? []) {
    const times = timeNames.flatMap(([name, word]) =>
      rule[name] === 0 ? [] : [`${word} ${rule[name]} ms`],
    );
    rows.push(['times', pathPrefix, times.join(', ')]);
  }
  for (const { pathPrefix, allowedOrigins } of delivery?.cors ?? []) {
    rows.push(['CORS', pathPrefix, allowedOrigins.join(' ')]);
  }
  for (const { pathPrefix, types, minBytes, off } of delivery?.compression ?? []) {
    const what = `${types.join(' ') || 'usual types'} from ${minBytes || 1_024} bytes`;
    rows.push(['compression', pathPrefix, off ? 'off' : what]);
  }
  const { enabled = false, cookieName } = delivery?.stickySessions ?? {};
  if (enabled) rows.push(['sticky sessions', '/', cookieName || 'waf-origin']);
  for (const [kind, changes = []] of [
    ['request field', delivery?.requestFields],
    ['response field', delivery?.responseFields],
  ] as const) {
    for (const { name, value, remove, mode } of changes) {
      rows.push([kind, name, remove ? 'removed' : value + (modeNotes[mode] ?? '')]);
    }
  }
  for (const { name, secure, httpOnly, sameSite } of delivery?.cookies ?? []) {
    const site = sameSiteNames[sameSite] ?? '';
    const attributes = [secure && 'Secure', httpOnly && 'HttpOnly', site && `SameSite=${site}`];
    rows.push(['cookie', name || 'others', attributes.filter(Boolean).join(' ')]);
  }
  if (delivery?.securityTxt) rows.push(['security.txt', '/.well-known/security.txt', 'served']);
  return { columns: ['WHAT', 'WHERE', 'VALUE'], rows };
}

const timeNames = [
  ['bodyPauseMs', 'body pause'],
  ['sendPauseMs', 'send pause'],
  ['originConnectMs', 'connect'],
  ['originAnswerMs', 'answer'],
  ['originPauseMs', 'origin pause'],
  ['totalMs', 'total'],
  ['keepAliveMs', 'keep-alive'],
  ['websocketPauseMs', 'WebSocket idle'],
] as const;
const modeNotes: { readonly [mode: number]: string } = {
  [FieldChangeMode.ADD]: ' (added)',
  [FieldChangeMode.DEFAULT]: ' (where absent)',
};
const sameSiteNames: { readonly [sameSite: number]: string } = {
  [CookieSameSite.STRICT]: 'Strict',
  [CookieSameSite.LAX]: 'Lax',
  [CookieSameSite.NONE]: 'None',
};
