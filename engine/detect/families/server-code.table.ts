/** Detectors of code that servers run: Node.js, Python, Lua, PHP; rows of the family `script`. */

import type { ByteString } from '../../../base/byte-string.ts';
import { SEEN } from '../bytes-seen.ts';
import { isFenced, isSaidOf } from '../code-in-text.ts';
import { words } from '../literals.ts';
import { isOwnCommand } from '../own-code.ts';
import type { PatternDetector } from '../patterns.ts';
import { endOfPagePart, isInPagePart } from '../php-pages.ts';

const phpManual = 'PHP manual, "Program execution", "Eval", "Serialization"';

const runsCommand = /(?:system|exec|popen)\s{0,4}\(/i;

/** What a program does after it imported a module and harms nobody. */
const idleStatement =
  /\s{0,8}(?:\w{1,16}\s{0,2}=\s{0,2}|print\s{0,2}\(\s{0,2})?(?:os\.(?:listdir|getcwd|path|makedirs|cpu_count)\b|subprocess\.\w{2,16}\(\[["'](?:ls|git|python3?|npm|pip|make)["']|os\.system(?=\(["'](?:clear|cls|pause)["']\)))/y;

/** Whether code of Python or Lua is more than what a text is about. */
function runsPython(text: ByteString, start: number, end: number): boolean {
  if (isFenced(text, start) || !runsMore(text, start, end)) return false;
  // What follows the end of a pickle is not read.
  const isCall = /(?:\(\s{0,4}(?:compile|bytes|chr|base64|__)?|pickle\.loads)$/i.test(
    text.slice(Math.max(start, end - 16), end),
  );
  return !isCall || !isSaidOf(text, start, 'any');
}

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
  if (beginsModule.test(text) || isFenced(text, start)) return false;
  if (isSaidOf(text, start, 'script')) return false;
  if (!runsOther.test(text.slice(start, end))) return true;
  callOfExec.lastIndex = end;
  return !(callOfExec.test(text) && isOwnCommand(text, callOfExec.lastIndex));
}

const afterWords = /[a-z]{2,20},? [a-z]{1,20},? [^\n]{0,40}[\s(=]$/i;

/** Whether a variable of a request is more than what a sentence about PHP reads. */
function isRead(text: ByteString, start: number, end: number): boolean {
  if (!runsMore(text, start, end) || isInPagePart(text, start)) return false;
  if (isFenced(text, start) || isSaidOf(text, start, 'withIs')) return false;
  const isVariable = /^\$_[A-Z]/.test(text.slice(start, start + 3));
  return !isVariable || !afterWords.test(text.slice(Math.max(0, start - 100), start));
}

/** Rows in the order of their ids. */
export const serverCode: readonly PatternDetector[] = [
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
        ...["require('child_process').exec('id')\nprints", "require('fs').readFileSync('a') in x"],
      ],
      benign: [
        ...["const fs = require('fs');", 'the process (main)', 'we require (x)'],
        "require('child_process').exec('git status', print)",
        ...["require('fs').readFileSync('a.txt') blocks", 'process.exit(1) kills the tests'],
        "require('child_process').exec('ls', (e, out) => log(out)); prints nothing here",
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
      /__(?:import__\s{0,4}\(|class__(?!\.__(?:name|qualname|doc)__(?![\w.[]))\s{0,4}(?:\.|\[|\)|\|)|mro__|subclasses__|globals__|builtins__|base__|bases__|reduce__|getattribute__|init__\s{0,2}(?:\.(?!py\b)|\[))|\b(?:os\.(?:system|popen|execv?|execute|spawnl)|io\.popen)\s{0,4}\(|\bsubprocess\.(?:call|run|popen|check_output|getoutput)\s{0,4}\((?!\s{0,4}\[["'](?:ls|git|python3?|npm|pip|echo|make|docker)["'])|\b(?:eval|exec)\s{0,4}\(\s{0,4}(?:compile|bytes|chr|base64|__)|\bimport\s{1,4}(?:os|socket|subprocess|pty)\s{0,4};|\bpickle\.loads|c(?:os|posix|nt|__builtin__)\n(?:system|popen|eval|exec)\n/gi,
    counts: runsPython,
    examples: {
      attacks: [
        "__import__('os').system('id')",
        ...["''.__class__.__name__.__class__.__mro__", 'os.execute("id") runs = 1'],
        ...["os.popen('id') is x", '~~~0\nos.popen("id")', "cos\nsystem\n(S'id'\ntR.) says"],
        "''.__class__.__mro__",
        'import os;os.system("x")',
        'os.execute("id")',
      ],
      benign: [
        ...['import os', 'the __init__ method', 'class __main__'],
        "subprocess.run(['ls', '-l'], check=True) fails",
        'os.system("clear") works, os.system("git status") as well',
        "import subprocess; out = subprocess.run(['ls', '-l'])",
        '~~~python\nimport os\nos.system("ls")\n~~~\nprints nothing',
        ...['__init__.py is missing', 'obj.__class__.__name__ gives the name of the class'],
        ...["please don't use subprocess.Popen(cmd, shell=True) here, pass a list"],
        ...['pickle.loads(data) on user input is a hole', '`os.system(f"rm {a}")` is unsafe'],
        "eval(compile(tree, 'a', 'exec')) runs the tree",
        "subprocess.run(f'ffmpeg -i {a}', shell=True) breaks on names with blanks",
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
      create_function call_user_func preg_replace base64_decode gzinflate str_rot13 file_put_contents
      file_get_contents readfile highlight_file show_source move_uploaded_file var_dump print ini_set
      getenv posix_ scandir opendir fopen unlink system include require die eval chr exit echo response.write
      $_ $globals \${`),
    pattern:
      /(?:^|[^\w.>$'"-])(?:shell_exec|passthru|proc_open|popen|pcntl_exec|phpinfo|php_uname|phpversion|phpcredits|assert|create_function|call_user_func(?:_array)?|base64_decode|gzinflate|str_rot13|file_put_contents|file_get_contents|readfile|highlight_file|show_source|move_uploaded_file|var_dump|print_r|ini_set|getenv|posix_\w{4,12}|scandir|opendir|fopen|unlink|system|exec|include|require(?:_once)?|die|eval|chr)\s{0,4}(?:\/\*[^*]{0,20}\*\/)?\(\s{0,4}(?:["'](?!use|child|(?<=(?:include|require|_once)\s{0,4}\(\s{0,4}["'])(?:\.{1,2}\/){0,4}\w[\w/-]{0,60}(?:\.(?:php|js|json))?["'])[^"']{1,80}["']\s{0,4}[).,]|\$_(?:get|post|request|cookie|server|files)|\$\w{1,20}\[|\)\s{0,4};|base64_decode|chr\(|gzinflate|str_rot13|(?:md5|phpinfo|system)\(|\d{1,12}\s{0,4}\)\s{0,4}[.;])|\$_(?:GET|POST|REQUEST|COOKIE|SERVER|FILES|SESSION|ENV)\s{0,2}[[{]|\$\{?GLOBALS\b|\$\{@?(?:print|system|eval|phpinfo|exec)\b|\bresponse\.write\s{0,2}\(\s{0,2}\d{1,12}\s{0,2}[*+]|\b(?:print|echo|die|exit)\s{0,2}\(?\s{0,2}`[^`]{1,80}`|(?:^|[;{}])\s{0,4}@?(?:print|echo)\s{0,4}\(?\s{0,4}(?:md5|phpinfo|system|shell_exec|`|\d{1,12}\s{0,2}[*+])(?:\s{0,2}\(|(?<=[`*+]))|["']\s{0,4}[.;]\s{0,4}@?(?:system|exec|passthru|shell_exec|eval|assert|popen|phpinfo)\s{0,2}\([^\n]{0,80}\)\s{0,4}[.;]|^phpinfo\s{0,2}\(\)$|\bcreate_function\s{0,4}\(\s{0,4}["']|\bpreg_replace\s{0,4}\(\s{0,4}["'][^"'\n]{1,60}[/#~@][a-z]{0,4}e[a-z]{0,4}["']\s{0,4},|\{\w{1,12}:[^{}\n]{0,80}\srunphp\s{0,4}=/gi,
    counts: isRead,
    examples: {
      attacks: [
        "system('id')",
        'phpinfo();',
        "eval($_POST['x'])",
        '${@print(md5(1))}',
        ...["create_function('','a();')", "preg_replace('/x/e','a()','x')"],
        ';print(md5(5));',
        'phpinfo()',
        ...['assert(phpinfo())', 'response.write(98*99)'],
        "include('/tmp/sess_a1')",
        ...['echo md5("x");', '";system(id)."', ';{$_GET["cmd"]}'],
        ...["system('id') and x", "system('id')\nis x", "/*\n```\n*/system('id');"],
      ],
      benign: [
        ...['the system (old)', 'include (optional)', 'a chr(1) b', 'die (der)'],
        ...[
          "include('../config.php'); works",
          "require('../../lib/db') fails",
          "exec('ls -la', $out) fills $out with lines",
          "system('ls') is disabled in php.ini, what can I use?",
          "file_get_contents('php://input') returns an empty string",
          "This fails:\n```php\neval('1 + 1');\n```",
          "In PHP, echo $_GET['name']; prints it",
          "<?php echo htmlspecialchars($_GET['q']); ?>",
        ],
      ],
    },
  },
  {
    id: 198_453,
    name: 'asp-hidden-call',
    proves: 'runs code of ASP that is put together from pieces',
    source: 'VBScript Language Reference, "Execute", "Eval", "On Error"',
    strong: true,
    confirmedBy: [933],
    needs: 0,
    literals: ['("e', 'server.scripttimeout', 'on error resume next:'],
    pattern:
      /\("(?:ex|exe|exec|execu|execut|ev|eva)"\s{0,2}&\s{0,2}"|\bServer\.ScriptTimeout\s{0,2}=|\bOn Error Resume Next:/gi,
    examples: {
      attacks: [
        'Ev al ("Ex"&"e"&"cute(1)")',
        'a:Server.ScriptTimeout=3600:b',
        'on error resume next:a()',
      ],
      benign: ['f("e" & "f")', 'On Error Resume Next\n  a = 1', '("Exit" & "Now")'],
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
];
