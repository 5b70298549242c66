/**
 * Tells command lines that people write about from commands that a value adds to one: a whole line
 * begins with a program, and what follows its separators changes, counts or shows the writer's own
 * files. A value that is put into a command line begins in the middle of it. Pure.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { ambiguousCommands, clearCommands, ownCommands, ownPrograms } from './commands.table.ts';
import {
  beforeCommand,
  command,
  dumps,
  keeps,
  loopHead,
  pause,
  prints,
  queries,
  risky,
  sentence,
  spoken,
  steps,
} from './own-lines.table.ts';

/** Bytes before and after a separator that are looked at. */
const lineBytesMax = 300;

const firstWord = /^(?:\.{1,2}\/|~\/)?[\w.-]{1,40}(?=[\s;|&)]|$)/;
const flag = /^\s{1,4}-{1,2}\w/;
const keywords = /^(?:if|then|else|elif|do|while|until|done|fi|esac|for|case|function|in)$/;
/** An assignment of PHP or Perl, whose bracket ends any program of a shell. */
const callOfPhp = /^\s{0,16}(?:my )?\$\w{1,32} = [\w:>$\\-]{1,60}\(/;
/** A program in the middle of a sentence, with something that it is to do. */
const programInside = /(?:^|[\s`"'(])(?:[a-z][a-z0-9.-]{1,24})(?=\s{1,2}[\w.$"'-])/g;

/** Whether the line up to a separator, or the one before it, begins with a program. */
export function followsCommand(text: ByteString, separator: number): boolean {
  const from = Math.max(0, separator - lineBytesMax);
  const before = text.slice(from, separator);
  const isLineEnd = /[\n\r]/.test(text.charAt(separator));
  const cut = Math.max(
    before.trimEnd().lastIndexOf('\n'),
    isLineEnd ? -1 : before.lastIndexOf('`'),
  );
  const whole = before.slice(cut + 1);
  const line = isLineEnd ? whole.trimEnd() : whole;
  // The fence of Markdown, the first line of a script.
  if (/^\s{0,8}(?:```|#!)/.test(line) || isBlockOfYaml(text, separator)) return true;
  const begin = line.slice(beforeCommand.exec(line)?.[0].length ?? 0);
  const word = firstWord.exec(begin)?.[0] ?? '';
  if (word.startsWith('.') || word.startsWith('~')) return word.length > 3;
  if (ownPrograms.has(word) || keywords.test(word) || /^\[{1,2} [^\]]{1,200} \]/.test(begin))
    return true;
  if (clearCommands.has(word) && word !== begin) return true;
  if (ambiguousCommands.has(word) && flag.test(begin.slice(word.length))) return true;
  if (callOfPhp.test(line)) return true;
  if (/^[A-Za-z_]\w{0,32}=/.test(line.trimStart())) return /=\S/.test(line);
  if (ownCommands.has(word) && word !== begin) return true;
  for (const [found] of line.matchAll(programInside)) {
    if (ownPrograms.has(found.replace(/^\W/, ''))) return true;
  }
  return false;
}

/** `run: |` before lines of its own. */
function isBlockOfYaml(text: ByteString, at: number): boolean {
  if (text.charAt(at) === '|') {
    return /^\|\s{0,4}\n/.test(text.slice(at, at + 8)) && text.startsWith(': ', at - 2);
  }
  return /: \|\s{0,4}$/.test(text.slice(Math.max(0, at - 8), at));
}

const ofName =
  /^\s{1,4}(?:install|i|add|download|run|exec)\s{1,4}(?!-r\s|-e\s|-[a-z]{0,2}\s{0,4}$|\.)\w/;
const installers = /^(?:pip3?|npm|npx|gem|pnpm|yarn|cargo|go)$/;
const interpreters = /^(?:python[23]?|node|php|ruby|perl|docker|kubectl|ssh)$/;
const wholeRun = /^\s{1,4}run(?:-script)?\s{1,4}[\w:.-]{1,40}(?:\s|$)/;

/** Markdown, or the end of a substitution. */
const end = /`|(?<=^[^(]{0,300})\)/;

/** Whether the command that begins at an offset does what people do in folders of their own. */
export function isHarmless(text: ByteString, from: number): boolean {
  const found = command.exec(text.slice(from, from + lineBytesMax));
  if (found === null) return false;
  const [, word = '', all = ''] = found;
  const rest = all.slice(0, end.exec(all)?.index);
  if (risky.test(rest)) return false;
  if (interpreters.test(word) && /\s-{1,2}(?:c|e|r|eval)\b/.test(rest)) return false;
  if (installers.test(word) && ofName.test(rest) && !wholeRun.test(rest)) return false;
  if (ownPrograms.has(word) || ownCommands.has(word)) return true;
  return !clearCommands.has(word) && !ambiguousCommands.has(word);
}

const ownFact = new RegExp(
  String.raw`^\s{0,4}(?:id -[gnu]{1,2}|hostname -[fs]|uname -[mrs]|` +
    String.raw`stat -[cf] ["']?%\w["']? [\w"$./{}-]{1,64})\s{0,4}\)`,
);

/** Whether a substitution gives a number or a name that scripts put into their own commands. */
export function isOwnFact(text: ByteString, from: number): boolean {
  return ownFact.test(text.slice(from, from + lineBytesMax));
}

const label = /^(?:\.[\w-]{1,30}){2}/;

/**
 * Whether the whole text is in the backticks at an offset, or code stands before them: Markdown has
 * words around them.
 */
export function isBacktickInCode(text: ByteString, at: number): boolean {
  const close = text.indexOf('`', at + 1);
  if (close < 0 || close - at > 200) return false;
  const before = text.charAt(at - 1);
  const after = text.slice(close + 1, close + 3);
  // Nothing but a name or an address before them.
  if (after === '' && at < 40 && /^[\w.:@/-]{0,40}$/.test(text.slice(0, at))) return true;
  if (at === 0) return after === '' || /^[;|&'"#]/.test(after);
  // The output of a command as a label of a host: `nslookup \`id\`.evil.example`.
  if (after.startsWith('.') && label.test(text.slice(close + 1, close + 40))) return true;
  const substituted = before === '(' && text.charAt(at - 2) === '$';
  return (substituted || /[;|&'"=$]/.test(before)) && /^(?:$|[;|&'"#)])/.test(after);
}

const proseBefore = /[a-z]{2,} [a-z]{2,}/i;

/** Whether the command in [start, end) is the subject of a sentence: `; ls -l a.sh shows no x`. */
export function isSubject(
  text: ByteString,
  separator: number,
  start: number,
  end: number,
): boolean {
  if (text[separator] !== ';' || text[separator + 1] !== ' ') return false;
  if (!/\w/.test(text.charAt(separator - 1)) || !spoken.has(text.slice(start, end))) return false;
  const before = text.slice(Math.max(0, separator - lineBytesMax), separator);
  return proseBefore.test(before) && sentence.test(text.slice(end, end + lineBytesMax));
}

/**
 * Whether a command that sets up a host is the next step with the program that the line begins
 * with: a value that is put into a command line begins with an argument.
 */
export function isNextStep(
  text: ByteString,
  separator: number,
  word: string,
  end: number,
): boolean {
  if (!steps.test(word)) return false;
  const line = lineBefore(text, separator).trimStart();
  if (!line.startsWith(`${word} `) || line.trim() === word) return false;
  const rest = /^[^\n;|&]{0,300}/.exec(text.slice(end, end + lineBytesMax))![0];
  return rest.trim() !== '' && !risky.test(rest) && !pause.test(rest);
}

/**
 * Whether a pipe ends a line of one command that dumps into a file of an archive, or prints into
 * the client of a database.
 */
export function endsOwnPipe(text: ByteString, pipe: number): boolean {
  const after = text.slice(pipe + 1, pipe + 1 + lineBytesMax);
  const queried = queries.test(after);
  if (text[pipe] !== '|' || text[pipe - 1] === '|') {
    // Without input a client only waits for it.
    return queried && text[pipe - 1] === '&' && followsCommand(text, pipe - 1);
  }
  if (!queried && !keeps.test(after)) return false;
  const line = lineBefore(text, pipe);
  const found = dumps.exec(line) ?? (queried ? prints.exec(line) : null);
  return found !== null && !risky.test(found[1]!);
}

/** The line up to an offset; empty where it is longer than any that is looked at. */
function lineBefore(text: ByteString, end: number): ByteString {
  const from = Math.max(0, end - lineBytesMax);
  const before = text.slice(from, end);
  const lineEnd = before.lastIndexOf('\n');
  return lineEnd < 0 && from > 0 ? '' : before.slice(lineEnd + 1);
}

/** Whether all commands of a shell program are harmless. Cost: linear in the text. */
export function isOwnProgram(text: ByteString): boolean {
  const parts = withoutQuotedSeparators(text)
    .split(/(?:;|\n|\||&&|\bdo\b|\bthen\b|\belse\b)+/)
    .slice(0, 64);
  return parts.every((part) => part.trim() === '' || isLoopHead(part) || isHarmless(part, 0));
}

/** Escapes, and strings of one line; what an escape begins is no string. */
const escapeOrString = /\\.|'[^'\n]{0,200}'|"[^"\n$`\\]{0,200}"/g;

/** With a blank for each separator in a string: `sed 's/;/,/'` is one command. */
function withoutQuotedSeparators(text: ByteString): ByteString {
  return text.replaceAll(escapeOrString, (part) => {
    return part.startsWith('\\') ? part : part.replaceAll(/[;|&]/g, ' ');
  });
}

function isLoopHead(part: ByteString): boolean {
  return loopHead.test(part) && !/\$\(|`/.test(part);
}
