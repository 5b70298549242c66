/** `waf site websocket`, `grpc`, `array-names`, `applications`, `waf rate-limit fields`. */

import {
  arrayNames,
  chosenFor,
  choicesOf,
  detectionApplications,
  grpcFields,
  rateLimitFields,
  websocketMessages,
} from '../../domain/site/site-choices.ts';
import { switchFlag, textFlag, type CommandDefinition } from '../command.ts';
import { badFlag } from '../input.ts';
import { nameArgument } from '../named-resource.ts';
import { curlOf } from '../try-lines.ts';
import { chooseForSite, settingsNow, siteOptionCommand } from './site-option.ts';

const opening =
  "--http1.1 -m 2 -H 'Connection: Upgrade' -H 'Upgrade: websocket' " +
  "-H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' " +
  "-H 'Sec-WebSocket-Extensions: permessage-deflate' ";

/** A command for each setting that has a few choices. */
export const siteOptionCommands: readonly CommandDefinition[] = [
  siteOptionCommand({
    path: ['site', 'websocket'],
    option: websocketMessages,
    summary: "Show or change whether messages of a site's WebSockets are inspected",
    help:
      'Without a flag it shows the setting. The policy of the site inspects each message from\n' +
      'the client, text and binary. WebSockets that are open keep what they began with.\n' +
      'Example: waf site websocket shop --messages block',
    flag: 'messages',
    flagSummary: 'what becomes of messages that rules refuse',
    tryLine: (site, choice) => {
      const answer = choice === 'off' ? 'as the origin does' : 'without Sec-WebSocket-Extensions';
      const uninspected = choice !== 'off' && site.waf?.enabled !== true;
      const note = uninspected ? 'No policy protects this site: nothing is inspected. ' : '';
      return `${note}Try: ${curlOf(site, opening)}/ answers ${answer}`;
    },
  }),
  siteOptionCommand({
    path: ['site', 'grpc'],
    option: grpcFields,
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
      const options =
        "--http2-prior-knowledge -H 'Content-Type: application/grpc' --data-binary @- ";
      const uninspected = choice === 'on' && site.waf?.enabled !== true;
      const note = uninspected ? 'No policy protects this site: nothing is inspected. ' : '';
      const answer = choice === 'on' ? '403 where the policy blocks' : 'as the origin does';
      return `${note}Try: printf ${attack} | ${curlOf(site, options)}/a.B/C answers ${answer}`;
    },
  }),
  siteOptionCommand({
    path: ['site', 'array-names'],
    option: arrayNames,
    summary: "Show or change how a site's origin reads names such as n[], for API checks",
    help:
      'Without a flag it shows the setting. With php or qs (Express), checks of API documents take\n' +
      'n[], n[0] and n for one name, as the origin does: a list is checked as the parameter n, and a\n' +
      'list or map in place of a single value is a violation. With none each is a name of its own.\n' +
      'Example: waf site array-names shop --names php',
    flag: 'names',
    flagSummary: 'how the origin reads such names',
    tryLine: (site, choice) => {
      const answer =
        choice === 'none'
          ? 'is checked as the parameter "ids[]"'
          : 'is checked as a list, the parameter "ids" of your API document';
      return `Try: ${curlOf(site, "-G -d 'ids[]=1' -d 'ids[]=2' ")}/ ${answer}`;
    },
  }),
];

/** Whether answers of a site tell clients what rate limits leave them. */
export const rateLimitFieldsCommand: CommandDefinition = siteOptionCommand({
  path: ['rate-limit', 'fields'],
  option: rateLimitFields,
  summary: 'Show or change whether answers of a site have RateLimit fields',
  help:
    'Without a flag it shows the setting. RateLimit and RateLimit-Policy name each limit that\n' +
    'applies to the request and is enforced, with what is left of it.\n' +
    'Example: waf rate-limit fields shop --answers on',
  flag: 'answers',
  flagSummary: 'whether answers have the fields',
  tryLine: (site, choice) => {
    const answer = choice === 'on' ? 'with RateLimit where a limit applies' : 'without RateLimit';
    return `Try: ${curlOf(site)}/ answers ${answer}`;
  },
});

/** Which known applications a site serves. */
export const siteApplicationsCommand: CommandDefinition = {
  path: ['site', 'applications'],
  summary: 'Show or change which applications a site serves, so that their editors work',
  help:
    'Known applications send HTML, SQL or code in fields of their own. There, and only there,\n' +
    'the score does not count the signs of such content. A path after @ says where one lies.\n' +
    'Only for policies that decide by score; others use plugins: waf crs exclusion-use.\n' +
    'Example: waf site applications shop --names wordpress@/blog,grafana',
  arguments: [nameArgument('site')],
  flags: [
    { flags: '--names <list>', summary: 'names, comma-joined, each with @ and a path or not' },
    { flags: '--none', summary: 'serves none of them' },
  ],
  published: true,
  run: async (context, [siteId = ''], flags) => {
    const names = textFlag(flags, 'names');
    const none = switchFlag(flags, 'none');
    if (names !== undefined && none) throw badFlag('--names and --none exclude each other');
    const wanted = none ? '' : names;
    if (wanted !== undefined) await chooseForSite(context, detectionApplications, siteId, wanted);
    const values = await settingsNow(context);
    const { key } = detectionApplications;
    const shown = chosenFor(values, detectionApplications, siteId);
    context.output.result(
      { [key]: choicesOf(values, key) },
      { columns: ['SETTING', 'VALUE'], rows: [[key, shown === '' ? 'none' : shown]] },
    );
    return 0;
  },
};
