/** `waf cert`: certificates with their keys. */

import { commandLineLimits } from '../../limits/command-limits.ts';
import { IssueACMECertRequestSchema, type Certificate } from '../../../proto/gen/waf/v1/cert_pb.ts';
import type { CommandDefinition } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { wordsOf } from '../field-flags.ts';
import { readInput, readInputText } from '../input.ts';
import { nameArgument } from '../named-resource.ts';
import type { Table } from '../output.ts';
import { notePage, pageFlags, readPage } from '../paging.ts';
import { callCommand, deleteCommand } from '../regular-commands.ts';
import { only, showMessage, timeText } from '../show.ts';
import { noteCertificate } from '../try-lines.ts';

const idArgument = [nameArgument('certificate')];

/** An authority takes its time. */
const patience = { timeoutMs: commandLineLimits.longCallTimeoutMs };

/** Commands on certificates. */
export const certCommands: readonly CommandDefinition[] = [
  callCommand({
    path: ['cert', 'list'],
    summary: 'List certificates',
    flags: [{ flags: '--query <text>', summary: 'part of a name or host' }, ...pageFlags],
    call: ({ certs }, _args, flags) => {
      const query = textFlag(flags, 'query') ?? '';
      return certs.listCerts({ page: readPage(flags), query });
    },
    table: ({ items }) => certTable(items),
    after: (context, response) => {
      notePage(context.output, response.items.length, response.page?.total);
      const [first] = response.items;
      if (first !== undefined) noteCertificate(context, first.dnsNames);
    },
  }),
  callCommand({
    path: ['cert', 'get'],
    summary: 'Show one certificate',
    arguments: idArgument,
    call: ({ certs }, [id = '']) => certs.getCert({ id }),
    table: ({ cert }) => certTable(only(cert)),
  }),
  {
    path: ['cert', 'issue'],
    summary: 'Order a certificate from an authority and have it renewed',
    help:
      'Example: waf cert issue --name shop --host shop.example --host www.shop.example\n' +
      'http-01 needs port 80 of the hosts to reach the proxy; a wildcard needs --challenge dns-01.',
    flags: [
      { flags: '--name <name>', summary: 'name for people; default is the first host' },
      {
        flags: '--host <host>',
        summary: 'host it is for; repeatable',
        repeatable: true,
        required: true,
      },
      { flags: '--email <address>', summary: 'contact of the account' },
      {
        flags: '--authority <name>',
        summary: 'authority; default is that of the settings, else letsencrypt',
        choices: ['letsencrypt', 'letsencrypt-staging'],
      },
      { flags: '--directory <url>', summary: 'ACME directory of another authority' },
      {
        flags: '--challenge <type>',
        summary: 'proof',
        choices: wordsOf(IssueACMECertRequestSchema, 'challengeType'),
      },
    ],
    run: async (context, _args, flags) => {
      const { certs } = await context.api();
      const response = await certs.issueACMECert(
        {
          name: textFlag(flags, 'name') ?? '',
          dnsNames: [...listFlag(flags, 'host')],
          email: textFlag(flags, 'email') ?? '',
          acmeIssuer: textFlag(flags, 'authority') ?? '',
          directoryUrl: textFlag(flags, 'directory') ?? '',
          challengeType: textFlag(flags, 'challenge') ?? '',
        },
        patience,
      );
      const made = response.cert === undefined ? [] : [response.cert];
      await showMessage(context, response, certTable(made));
      context.output.line(nextStep(made[0], response.orderId));
      noteCertificate(context, listFlag(flags, 'host'));
      return 0;
    },
  },
  callCommand({
    path: ['cert', 'renew'],
    summary: 'Renew a certificate that was ordered here, when it is due',
    arguments: idArgument,
    flags: [{ flags: '--force', summary: 'renew it even if it is not due' }],
    call: ({ certs }, [id = ''], flags) =>
      certs.renewCert({ id, force: switchFlag(flags, 'force') }, patience),
    table: ({ cert }) => certTable(only(cert)),
    after: (context, { cert }) => noteCertificate(context, cert?.dnsNames ?? []),
  }),
  keepCommand('import'),
  keepCommand('upload'),
  {
    path: ['cert', 'download'],
    summary: 'Print a certificate with its chain, PEM',
    help: 'With --key the private key comes last; that is noted in the audit chain.',
    arguments: idArgument,
    flags: [{ flags: '--key', summary: 'the private key too' }],
    run: async (context, [id = ''], flags) => {
      const { certs } = await context.api();
      const includePrivateKey = switchFlag(flags, 'key');
      const response = await certs.downloadCert({ id, includePrivateKey });
      if (context.output.format === 'json') {
        return showMessage(context, response, { columns: [], rows: [] });
      }
      const text = new TextDecoder();
      const { certPem, chainPem, keyPem } = response;
      process.stdout.write([text.decode(certPem), ...chainPem, text.decode(keyPem)].join(''));
      return 0;
    },
  },
  deleteCommand({
    path: ['cert', 'delete'],
    summary: 'Remove a certificate that no site uses',
    arguments: idArgument,
    kind: 'certificate',
    call: ({ certs }, id) => certs.deleteCert({ id }),
  }),
];

/** `upload` is the name that the API gives it. */
function keepCommand(word: 'import' | 'upload'): CommandDefinition {
  return {
    path: ['cert', word],
    summary: 'Store your own certificate with its key and chain',
    help:
      `Example: waf cert ${word} --name shop --cert fullchain.pem --key privkey.pem\n` +
      'The certificate file may hold the chain too. - reads standard input.',
    flags: [
      { flags: '--name <name>', summary: 'name for people', required: true },
      { flags: '--cert <file>', summary: 'certificate, PEM', required: true },
      { flags: '--key <file>', summary: 'private key, PEM, without passphrase', required: true },
      {
        flags: '--chain <file>',
        summary: 'certificates of the chain; repeatable',
        repeatable: true,
      },
    ],
    run: async (context, _args, flags) => {
      const response = await (
        await context.api()
      ).certs.uploadCert({
        name: textFlag(flags, 'name') ?? '',
        certPem: readInput(textFlag(flags, 'cert') ?? ''),
        keyPem: readInput(textFlag(flags, 'key') ?? ''),
        chainPem: listFlag(flags, 'chain').map(readInputText),
      });
      const made = response.cert === undefined ? [] : [response.cert];
      await showMessage(context, response, certTable(made));
      context.output.line(`Use it: waf site tls SITE --cert ${response.cert?.id ?? ''}`);
      noteCertificate(context, made[0]?.dnsNames ?? []);
      return 0;
    },
  };
}

function nextStep(cert: Certificate | undefined, orderId: string): string {
  if (cert === undefined)
    return `The authority takes long; ${orderId} continues: see waf cert list`;
  return 'Use it: waf site tls SITE --acme';
}

function certTable(certs: readonly Certificate[]): Table {
  return {
    columns: ['ID', 'NAME', 'HOSTS', 'ISSUER', 'ENDS', 'KIND'],
    rows: certs.map((cert) => [
      cert.id,
      cert.name,
      cert.dnsNames.join(' '),
      cert.issuer,
      timeText(cert.notAfter),
      cert.managed ? 'managed' : 'uploaded',
    ]),
  };
}
