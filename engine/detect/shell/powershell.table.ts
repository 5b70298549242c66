/** The detector of commands of PowerShell that follow a separator. */

import type { ByteString } from '../../../base/byte-string.ts';
import { words } from '../literals.ts';
import type { PatternDetector } from '../patterns.ts';

const verbs = words(
  `add- clear- connect- copy- disable- enable- enter- expand- export- find- get- grant- import- install- invoke- move- new- out- read- register- remove- rename- reset- restart- resume- save- send- set- start- stop- suspend- test- unblock- unregister- update- wait- write-`,
);

/** A script from the start on: commands for the writer's own files that follow are a part of it. */
const beginsScript =
  /^\s{0,8}(?:foreach|for|if|while|function|param|try|[a-z]{3,10}-[a-z]{3,24}(?=\s))\b/i;
const ownCommand =
  /^[;|&\n{]\s{0,8}(?:add|copy|get|move|new|out|remove|rename|set|test|write)-(?:item|childitem|content|date|path|host|object|csv|service|location)\b/i;

/** Two cmdlets that a pipe joins are a script as people paste it. */
function beginsCommand(text: ByteString, start: number): boolean {
  if (beginsScript.test(text) && ownCommand.test(text.slice(start, start + 40))) return false;
  if (text.charAt(start) !== '|' || text.charAt(start - 1) === '|') return true;
  const before = text.slice(Math.max(0, start - 260), start);
  return !/[a-z]{3,16}-[a-z]{3,32}\b[^;|&\n]{0,200}$/i.test(before);
}

/** Approved verbs with nouns of the product's modules, and static calls of .NET. */
export const powershellCommand: PatternDetector = {
  id: 198_220,
  name: 'powershell-command',
  proves: 'adds a command of PowerShell after a separator',
  source: 'about_Command_Syntax; PowerShell 7, "Approved Verbs for PowerShell Commands"',
  strong: true,
  confirmedBy: [932],
  needs: 0,
  literals: [...verbs, ...words('iwr irm iex gwmi icm saps ]::')],
  pattern:
    /(?:[;|&\n`]|\$\(|^\s{0,4}\(|\{\s{0,4})\s{0,4}(?:\$\w{1,32}\s{0,4}=\s{0,4}|[&(]\s{0,4}){0,2}(?:(?:add|clear|connect|copy|disable|enable|enter|expand|export|find|get|grant|import|install|invoke|move|new|out|read|register|remove|rename|reset|restart|resume|save|send|set|start|stop|suspend|test|unblock|unregister|update|wait|write)-(?:item|childitem|content|process|service|webrequest|restmethod|expression|command|wmi|cim|computer|host|localuser|localgroup|mp[a-z]{5}|net[a-z]{2}|ad(?:user|group|comp|domain)|event|job|variable|alias|history|module|pssession|psdrive|acl|executionpolicy|sleep|credential|scheduled|smb|dns|random|clipboard|hotfix|archive|csv|connection|bits|disk|volume|partition|vm|mailmessage|printer|transcript|path|object\s{1,4}(?:system\.)?net|location|date|type|file|webservice)[a-z]{0,24}(?![\w-])|(?:iwr|irm|iex|gwmi|icm|saps)\s{1,4}[-$("'\w]|\[(?:system\.)?(?:net|io|reflection|diagnostics|convert|environment|runtime|security|management|appdomain|activator|scriptblock|text\.encoding|windows)[\w.]{0,60}\]::\w{1,40}\s{0,2}\()/gi,
  counts: beginsCommand,
  examples: {
    attacks: [
      ...[
        ';Start-Sleep -s 10',
        '| Get-Process',
        '$(Get-ChildItem Env:)',
        '&& iwr http://x.example/a',
      ],
      ';[System.Net.Dns]::GetHostAddresses("x.example")',
    ],
    benign: [
      ...[
        'Get-Process',
        'PowerShell: Get-ChildItem -Recurse | Stop-Process',
        'rest; set-top boxes',
      ],
      ...['use [x]::new', 'a; start-up costs', '(see get-together)'],
      'foreach ($f in Get-ChildItem *.txt) { Rename-Item $f b }',
      'Set-ExecutionPolicy RemoteSigned; Get-Service',
    ],
  },
};
