/** `waf site grpc`: whether text fields of gRPC messages are inspected as arguments. */

import type { CommandDefinition } from '../command.ts';
import { siteOptionCommand } from './site-option.ts';
import { curlOf } from '../try-lines.ts';

/** The command. */
export const siteGrpcCommand: CommandDefinition = siteOptionCommand({
  path: ['site', 'grpc'],
  option: { key: 'grpc.fields', choices: ['off', 'on'] },
  summary: "Show or change whether text fields of a site's gRPC messages are inspected",
  help:
    'Without a flag it shows the setting. The policy of the site inspects text fields of messages\n' +
    'of clients as arguments, without a schema: grpc.1.3 is field 3 of the message in field 1.\n' +
    'The policy must allow the media type application/grpc.\n' +
    'Example: waf site grpc shop --fields on',
  flag: 'fields',
  flagSummary: 'whether text fields are inspected as arguments',
  tryLine: (site, choice) => {
    const attack = "'\\0\\0\\0\\0\\033\\012\\031<script>alert(1)</script>'";
    const options = "--http2-prior-knowledge -H 'Content-Type: application/grpc' --data-binary @- ";
    const uninspected = choice === 'on' && site.waf?.enabled !== true;
    const note = uninspected ? 'No policy protects this site: nothing is inspected. ' : '';
    const answer = choice === 'on' ? '403 where the policy blocks' : 'as the origin does';
    return `${note}Try: printf ${attack} | ${curlOf(site, options)}/a.B/C answers ${answer}`;
  },
});
