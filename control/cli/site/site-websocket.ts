/** `waf site websocket`: whether messages of a site's WebSockets are inspected. */

import type { CommandDefinition } from '../command.ts';
import { siteOptionCommand } from './site-option.ts';
import { curlOf } from '../try-lines.ts';

const opening =
  "--http1.1 -m 2 -H 'Connection: Upgrade' -H 'Upgrade: websocket' " +
  "-H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' " +
  "-H 'Sec-WebSocket-Extensions: permessage-deflate' ";

/** The command. */
export const siteWebsocketCommand: CommandDefinition = siteOptionCommand({
  path: ['site', 'websocket'],
  option: { key: 'websocket.messages', choices: ['off', 'observe', 'block'] },
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
});
