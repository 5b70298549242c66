/**
 * Tells code that pages and programs have of their own from code that acts where a value is put:
 * handlers that call a page's own functions, the name of an element in a sentence, and calls that
 * stand in a string of the program that a value is put into. What is not known acts. Pure.
 */

import type { ByteString } from '../../base/byte-string.ts';
import { ambiguousCommands, clearCommands, ownPrograms } from './shell/commands.table.ts';
import { isHarmless } from './shell/own-lines.ts';

/** Functions of every page; a handler that calls others needs a page that has them. */
const globals: ReadonlySet<string> = new Set(
  (
    'alert confirm prompt print eval open close fetch import write writeln settimeout setinterval ' +
    'function atob btoa postmessage require execscript $ jquery replace assign call apply bind ' +
    'constructor getscript load append html'
  ).split(' '),
);
const name = '[a-z_$][a-z_$]{0,40}';
const string = String.raw`'[\w #.,-]{0,40}'|"[\w #.,-]{0,40}"`;
const ownData = String.raw`this\.(?:value|form|checked|open|dataset\.[a-z]{1,24})`;
const literal = String.raw`(?:true|false|null|\d{1,3}|${string})`;
const member = String.raw`\s{0,4}(?:[a-z_]\w{0,32}|${string})\s{0,2}:\s{0,2}${literal}\s{0,4}`;
const record = String.raw`\{${member}(?:,${member}){0,8}\}`;
const constant = String.raw`(?:${ownData}|this|event|${literal}|${record})`;
const constants = String.raw`${constant}(?:\s{0,4},\s{0,4}${constant}){0,4}`;
const call = new RegExp(
  String.raw`^(?:return\s{1,4})?(?:(?:this|event)\.)?(${name})\(\s{0,4}(?:${constants})?\s{0,4}\)$`,
  'i',
);
const other = new RegExp(
  String.raw`^(?:return(?:\s{1,4}(?:true|false))?|this\.(?:onerror\s{0,4}=\s{0,4}null|` +
    String.raw`(?:parentNode\.|parentElement\.)?classList\.(?:add|remove|toggle)\('[\w -]{1,40}'\)|` +
    String.raw`style\.[a-z]{2,24}\s{0,4}=\s{0,4}['"][\w #.%-]{0,40}['"]|` +
    String.raw`src\s{0,4}=\s{0,4}['"][\w.-][\w./-]{0,80}['"]|form\.submit\(\))|` +
    String.raw`navigator\.clipboard\.writetext\((?:${ownData}|${string})\)|)$`,
  'i',
);
const quotedValue = /[\s\0]{0,8}(?:"([^"<>&\\`]{0,160})"|'([^'<>&\\`]{0,160})')(?=[\s/>]|$)/y;

/**
 * Whether the value of an event handler is quoted and does nothing but call functions that only
 * the page itself may have, with constants.
 */
export function callsOwnFunctions(text: ByteString, equals: number): boolean {
  quotedValue.lastIndex = equals + 1;
  const found = quotedValue.exec(text);
  if (found === null) return false;
  const statements = (found[1] ?? found[2]!).split(';');
  return statements.every((one) => {
    const statement = one.trim();
    const called = call.exec(statement)?.[1];
    return called === undefined ? other.test(statement) : !globals.has(called.toLowerCase());
  });
}

/** Signs without which a script calls, sets and loads nothing. */
const scriptSigns = /[(`=[&\\/]/;
/** Words of JavaScript that a name may follow in the same line. Source: ECMA-262, section 12.7. */
const beforeName =
  'async|await|break|case|class|const|continue|default|delete|do|else|export|for|function|get|if|' +
  'import|let|new|return|set|static|switch|throw|try|typeof|using|var|void|while|with|yield';
/**
 * Signs that no program begins with, and two names in one line, of which it has none. `&` is not
 * among them: SVG decodes character references in a script.
 */
const noProgram = new RegExp(
  String.raw`^\s{0,8}(?:[,)\]}:?|^%>=*]|\.(?!\d))|` +
    String.raw`^[ \t]{0,8}(?!(?:${beforeName})\b)[a-z]\w{0,32}[ \t]{1,4}(?!(?:in|of|instanceof)\b)[a-z]`,
  'i',
);
const headBytesMax = 96;
/** Attributes of components of Vue, which browsers pass over. */
const vueAttributes = /\s{1,4}setup(?:\s{1,4}lang="[jt]sx?")?(?=>)/y;

/**
 * Whether `<script>` is the name of the element in a sentence: what follows it is no program, or a
 * blank or a backtick stands before it and no sign of a call or an assignment is in the whole text
 * after it.
 */
export function isNameOfElement(text: ByteString, start: number, nameEnd: number): boolean {
  vueAttributes.lastIndex = nameEnd;
  const end = vueAttributes.test(text) ? vueAttributes.lastIndex : nameEnd;
  if (text.charAt(end) !== '>') return false;
  if (noProgram.test(text.slice(end + 1, end + headBytesMax))) return true;
  return /[\s`]/.test(text.charAt(start - 1)) && !scriptSigns.test(text.slice(end + 1));
}

const ownAttributes = String.raw`(?:\s{1,4}(?:defer|async|type="module")){0,3}`;
const ownFolders = '(?:(?:js|assets|static|dist|scripts|lib|build|vendor|public)\\/){0,3}';
const ownSource = new RegExp(
  String.raw`<script${ownAttributes}\s{1,4}src="(?:\.{0,2}\/)?${ownFolders}[\w-][\w.-]{0,40}\.m?js"` +
    `${ownAttributes}><\\/script>`,
  'iy',
);

/** Whether a `<script>` element in a sentence only loads a program from a folder of the site. */
export function isOwnScript(text: ByteString, start: number): boolean {
  ownSource.lastIndex = start;
  return /[a-z]{2} $/i.test(text.slice(Math.max(0, start - 3), start)) && ownSource.test(text);
}

/** Scripts with which large sites show posts in pages of others. */
const widgets =
  'platform\\.twitter\\.com\\/widgets|platform\\.x\\.com\\/widgets|www\\.instagram\\.com\\/embed|' +
  'www\\.tiktok\\.com\\/embed|assets\\.pinterest\\.com\\/js\\/pinit|embed\\.redditmedia\\.com\\/widgets\\/platform';
const widgetScript = new RegExp(
  String.raw`<script(?:\s{1,4}(?:async|defer|charset="utf-8")){0,3}\s{1,4}src="(?:https:)?\/\/(?:${widgets})\.js"` +
    String.raw`(?:\s{1,4}(?:async|defer|charset="utf-8")){0,3}><\/script>`,
  'iy',
);

/** Whether a `<script>` element only shows the post of another site that stands before it. */
export function isWidgetScript(text: ByteString, start: number): boolean {
  widgetScript.lastIndex = start;
  return widgetScript.test(text);
}

const names = String.raw`\{[\w$\s,]{1,300}\}`;
/** Declarations that end the reading of a script that is no module. Source: ECMA-262, 16.1. */
const moduleCode = new RegExp(
  String.raw`(?:\s{1,4}(?:setup|async|defer|lang="[jt]sx?")){0,3}>\s{0,64}(?:import\s{1,4}(?:type\s{1,4})?` +
    String.raw`(?:[\w$]{1,40}(?:\s{0,4},\s{0,4}${names})?|${names}|\*\s{1,4}as\s{1,4}[\w$]{1,40})\s{1,4}` +
    String.raw`from\s{0,4}["'][^"'<\n]{1,120}["']|export\s{1,4}default\s{0,4}[{\w])`,
  'y',
);

/** Whether browsers cannot read what a `<script>` element holds: its tag declares no module. */
export function isModuleWithoutType(text: ByteString, nameEnd: number): boolean {
  moduleCode.lastIndex = nameEnd;
  return moduleCode.test(text);
}

const dataElement =
  /<script\s{1,8}type="application\/(?:ld\+)?json"\s{0,4}>[^<]{0,16384}<\/script>/iy;

/** Whether a `<script>` element holds data, which browsers do not run. */
export function isDataElement(text: ByteString, start: number): boolean {
  dataElement.lastIndex = start;
  return dataElement.test(text);
}

/** Bytes before a call that are read. */
const programBytesMax = 4096;
const quotes = ['"', "'", '`'];
/** The fence of a code block in Markdown: no program has one, inside of a string or outside. */
const fence = /(?<!`)```\w{0,16}\n/g;

/**
 * Whether a place in a text is code where a program puts the text into a string of one of the three
 * sorts; false where it lies in a string each time, as in program text that people paste.
 */
export function actsInString(text: ByteString, place: number): boolean {
  if (place > programBytesMax) return true;
  const before = text.slice(0, place).replaceAll(fence, '\n');
  return quotes.some((quote) => isCodeAfter(before, quote, true));
}

/**
 * Whether what follows a quote is code, where the text begins in a string of one of the three
 * sorts. Unlike `actsInString` it takes no slash for one that may hide quotes, nor `${` for code.
 */
export function leavesString(text: ByteString, at: number): boolean {
  if (at > programBytesMax) return true;
  const before = text.slice(0, at + 1);
  return quotes.some((quote) => isCodeAfter(before, quote, false));
}

/** Whether the end of a text is code, where its start lies in a string. */
function isCodeAfter(text: ByteString, quote: string, wary: boolean): boolean {
  let open = quote;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\') {
      at++;
    } else if (open !== '') {
      // An expression in a template is code.
      if (wary && open === '`' && char === '$' && text.charAt(at + 1) === '{') return true;
      if (char === open) open = '';
    } else if (wary && char === '/') {
      if (hidesQuotes(text, at)) return true;
    } else if (char === '"' || char === "'" || char === '`') {
      open = char;
    }
  }
  return open === '';
}

const lineBytesMax = 512;

/** Whether a slash may begin a comment, or a regular expression: that one ends in its line. */
function hidesQuotes(text: ByteString, slash: number): boolean {
  const line = text.slice(slash + 1, slash + lineBytesMax);
  const end = line.search(/[\n\r]/);
  return /^\*|\//.test(end < 0 ? line : line.slice(0, end));
}

const commandArgument = /\s{0,4}(["'])(\w{3,24})((?: [\w.=-]{1,40}){0,6})\1\s{0,4}[),]/y;

/** Whether the argument at an offset is a constant command that only a programmer has use for. */
export function isOwnCommand(text: ByteString, from: number): boolean {
  commandArgument.lastIndex = from;
  const [, , word = '', rest = ''] = commandArgument.exec(text) ?? [];
  return programmersOnly.has(word) && isHarmless(word + rest, 0);
}

/** Programs that tell nothing of a host; those that tests for an injection run are none. */
const programmersOnly: ReadonlySet<string> = new Set([
  ...['clear', 'cls', 'pause'],
  ...[...ownPrograms].filter((one) => !clearCommands.has(one) && !ambiguousCommands.has(one)),
]);
