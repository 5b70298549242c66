/** `waf cert`: certificates with their keys. */

import type { Certificate } from '../../proto/gen/waf/v1/cert_pb.ts';
import type { ArgumentDefinition, CommandDefinition } from './command.ts';
import { listFlag, switchFlag, textFlag } from './command.ts';
import { readInput, readInputText } from './input.ts';
import type { Table } from './output.ts';
import { notePage, pageFlags, readPage } from './paging.ts';
import { showMessage, showRemoved, timeText } from './show.ts';

const idArgument: readonly ArgumentDefinition[] = [
  { name: '<certificate>', summary: 'id or name', resource: 'certificate' },
];

/** Commands on certificates. */
export const certCommands: readonly CommandDefinition[] = [
  {
    path: ['cert', 'list'],
    summary: 'List certificates',
    help: '',
    arguments: [],
    flags: [{ flags: '--query <text>', summary: 'part of a name or host' }, ...pageFlags],
    run: async (context, _args, flags) => {
      const { ListCertsResponseSchema } = await import('../../proto/gen/waf/v1/cert_pb.ts');
      const { certs } = await context.api();
      const query = textFlag(flags, 'query') ?? '';
      const response = await certs.listCerts({ page: readPage(flags), query });
      await showMessage(context, ListCertsResponseSchema, response, certTable(response.items));
      notePage(context.output, response.items.length, response.page?.total);
      return 0;
    },
  },
  {
    path: ['cert', 'get'],
    summary: 'Show one certificate',
    help: '',
    arguments: idArgument,
    flags: [],
    run: async (context, [id = '']) => {
      const { GetCertResponseSchema } = await import('../../proto/gen/waf/v1/cert_pb.ts');
      const response = await (await context.api()).certs.getCert({ id });
      const found = response.cert === undefined ? [] : [response.cert];
      await showMessage(context, GetCertResponseSchema, response, certTable(found));
      return 0;
    },
  },
  keepCommand('import'),
  keepCommand('upload'),
  {
    path: ['cert', 'download'],
    summary: 'Print a certificate with its chain, PEM',
    help: 'With --key the private key comes last; that is noted in the audit chain.',
    arguments: idArgument,
    flags: [{ flags: '--key', summary: 'the private key too' }],
    run: async (context, [id = ''], flags) => {
      const { DownloadCertResponseSchema } = await import('../../proto/gen/waf/v1/cert_pb.ts');
      const { certs } = await context.api();
      const includePrivateKey = switchFlag(flags, 'key');
      const response = await certs.downloadCert({ id, includePrivateKey });
      if (context.output.format === 'json') {
        const table = { columns: [], rows: [] };
        await showMessage(context, DownloadCertResponseSchema, response, table);
        return 0;
      }
      const text = new TextDecoder();
      const { certPem, chainPem, keyPem } = response;
      process.stdout.write([text.decode(certPem), ...chainPem, text.decode(keyPem)].join(''));
      return 0;
    },
  },
  {
    path: ['cert', 'delete'],
    summary: 'Remove a certificate that no site uses',
    help: '',
    arguments: idArgument,
    flags: [],
    run: async (context, [id = '']) => {
      await (await context.api()).certs.deleteCert({ id });
      showRemoved(context, 'certificate', id);
      return 0;
    },
  },
];

/** `upload` is the name that the API gives it. */
function keepCommand(word: 'import' | 'upload'): CommandDefinition {
  return {
    path: ['cert', word],
    summary: 'Keep a certificate of your own with its key and chain',
    help:
      `Example: waf cert ${word} --name shop --cert fullchain.pem --key privkey.pem\n` +
      'The certificate file may hold the chain too. - reads standard input.',
    arguments: [],
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
      const { UploadCertResponseSchema } = await import('../../proto/gen/waf/v1/cert_pb.ts');
      const response = await (
        await context.api()
      ).certs.uploadCert({
        name: textFlag(flags, 'name') ?? '',
        certPem: readInput(textFlag(flags, 'cert') ?? ''),
        keyPem: readInput(textFlag(flags, 'key') ?? ''),
        chainPem: listFlag(flags, 'chain').map(readInputText),
      });
      const made = response.cert === undefined ? [] : [response.cert];
      await showMessage(context, UploadCertResponseSchema, response, certTable(made));
      context.output.line(`Use it: waf site tls SITE --cert ${response.cert?.id ?? ''}`);
      return 0;
    },
  };
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
