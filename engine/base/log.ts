/** Owns the logging port: one JSON object a line, no secret and no outside text in `message`. */

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

/** Writes JSON lines to `write` (standard error by default) at `minimum` level and above. */
export function createLogger(
  component: string,
  minimum: LogLevel = 'info',
  write: (line: string) => void = (line) => process.stderr.write(line),
): Logger {
  const floor = levels.indexOf(minimum);
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (levels.indexOf(level) < floor) return;
      const time = new Date().toISOString();
      write(JSON.stringify({ time, level, component, message, ...fields }) + '\n');
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Drops everything; for code that is called without a logger of its own. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
