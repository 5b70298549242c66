/** The logging port: one line an event, no secret and no outside text in `message`. */

/** How much a line matters, least first. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
/** What a line says beside its message: facts, never text from outside. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** The logging port; one method a level. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** How a line looks: one JSON object for programs, columns for a person at a terminal. */
export type LogFormat = 'json' | 'text';

/** Environment variable that names the format; children and threads inherit it. */
export const logFormatVariable = 'WAF_LOG_FORMAT';

/** Writes lines to `write` (standard error by default) at `minimum` level and above. */
export function createLogger(
  component: string,
  minimum: LogLevel = 'info',
  write: (line: string) => void = (line) => process.stderr.write(line),
  format: LogFormat = process.env[logFormatVariable] === 'text' ? 'text' : 'json',
): Logger {
  const floor = levels.indexOf(minimum);
  const render = format === 'text' ? textLine : jsonLine;
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (levels.indexOf(level) < floor) return;
      write(render(new Date(), level, component, message, fields) + '\n');
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function jsonLine(
  now: Date,
  level: LogLevel,
  component: string,
  message: string,
  fields: LogFields,
): string {
  return JSON.stringify({ time: now.toISOString(), level, component, message, ...fields });
}

/** `13:27:31.004 info  engine      listening host=127.0.0.1 port=8080`, in UTC. */
function textLine(
  now: Date,
  level: LogLevel,
  component: string,
  message: string,
  fields: LogFields,
): string {
  const time = now.toISOString().slice(11, 23);
  const facts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${textValue(String(value))}`);
  const head = `${time} ${level.padEnd(5)} ${component.padEnd(10)}`;
  return `${head} ${withoutControls(message)}${facts.join('')}`;
}

function textValue(value: string): string {
  return withoutControls(/[\s"=]|^$/.test(value) ? JSON.stringify(value) : value);
}

/** Nothing in a line reaches a terminal as a control code, or starts another line. */
function withoutControls(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Drops everything; for code that is called without a logger of its own. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
