/** Tests how log lines look to programs and to people, and that neither can be forged. */

import { expect, test } from 'vitest';
import { createLogger, type LogFormat, type Logger } from './log.ts';

function record(format?: LogFormat): { lines: string[]; log: Logger } {
  const lines: string[] = [];
  const log = createLogger('engine', 'info', (line) => void lines.push(line), format);
  return { lines, log };
}

test('a line is one JSON object unless text is asked for', () => {
  const { lines, log } = record();
  log.debug('not shown');
  log.info('listening', { host: '127.0.0.1', port: 8080 });
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'info',
    component: 'engine',
    message: 'listening',
    host: '127.0.0.1',
    port: 8080,
  });
});

test('as text a line has time, level, component, message and facts', () => {
  const { lines, log } = record('text');
  log.warn('a thing', { n: 1, name: 'two words', gone: undefined, none: '' });
  expect(lines[0]).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} warn  engine     a thing n=1 name="two words" none=""\n$/,
  );
});

test.each(['\u001b[2J', 'a\nb', '\u009b31m', 'a\u202eb', 'a\rb', '\u007f'])(
  'the value %j reaches no terminal as it is',
  (value) => {
    const { lines, log } = record('text');
    log.info(value, { value });
    const shown = lines.join('').slice(0, -1);
    expect([...shown].every((one) => one >= ' ' && one <= '~')).toBe(true);
  },
);

test('the environment names the format, for threads and children', () => {
  process.env['WAF_LOG_FORMAT'] = 'text';
  try {
    const { lines, log } = record();
    log.info('listening');
    expect(lines[0]).not.toContain('{');
  } finally {
    delete process.env['WAF_LOG_FORMAT'];
  }
});
