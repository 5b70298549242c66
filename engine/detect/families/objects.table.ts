/** Detectors of lookups, expressions and objects of Java, and of objects of others; of `script`. */

import type { ByteString } from '../../../base/byte-string.ts';
import { SEEN } from '../bytes-seen.ts';
import { isSaidOf } from '../code-in-text.ts';
import { apart, words } from '../literals.ts';
import { textKinds, type PatternDetector } from '../patterns.ts';
import { serialized } from '../serialized.ts';

const javaDocs = 'Java Object Serialization Specification; OGNL and SpEL language guides';

const typeOfMethod = /method '[\w.[\]]{1,60} $/;
const lookupOfNothing = /^\$\{jndi:\w{2,5}:(?:\/\/)?(?:\.{3})?\}/;

const className = /^java\.[\w.]{4,40}$/;
const namedInText = /^ (?:is|was|has|[a-z]{3,14}s) [a-z]/;
const runsProgram = /^(?:getRuntime|forName|ProcessBuilder)\b/;

/** Whether a class is more than a part of a message about a method of it, or of a sentence. */
function isNoMessage(text: ByteString, start: number, end: number): boolean {
  if (className.test(text.slice(start, end)) && namedInText.test(text.slice(end, end + 24))) {
    return /\S/.test(text.charAt(start - 1));
  }
  if (runsProgram.test(text.slice(start, end)) && isSaidOf(text, start, 'groovy')) return false;
  return !typeOfMethod.test(text.slice(Math.max(0, start - 80), start));
}

/** Rows in the order of their ids. */
export const objects: readonly PatternDetector[] = [
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
      /(?<!\/|\bat\s|by:\s|invoke ")(?:(?:java\.lang\.|javax\.|java\.(?:io|net|util)\.)(?:(?:Runtime|ProcessBuilder|ScriptEngineManager|ProcessImpl)\b|script\.|naming\.(?!\w{0,40}Exception)|(?:Class|System|File\w{0,16}|URL\w{0,16}|Scanner|Thread|Math|String)(?=@|\(|\.\w{1,40}\s{0,2}\())|com\.sun\.(?:rowset|org\.apache)|org\.apache\.(?:commons\.collections|xalan|tomcat|struts2)\.|ch\.qos\.logback|jdk\.nashorn\.internal\.|org\.springframework\.context\.support\.(?:ClassPath|FileSystem)Xml)|\bProcessBuilder\s{0,2}\((?!\s{0,2}"(?:git|java|mvn|npm|docker|echo)")[^()\n]{0,80}\)\s{0,2}\.\s{0,2}start\b|\$\{\s{0,4}(?:(?:pageContext|facesContext|applicationScope)(?:\}|\.[\w.]{1,80}\()|#(?:_memberAccess|context|application|session|request|parameters)\b)|#_memberAccess\b|\bT\s{0,2}\(\s{0,2}[\w.]{2,64}\s{0,2}\)\s{0,2}\.|\bgetRuntime\s{0,2}\((?!\s{0,2}\)\s{0,2}\.(?:availableProcessors|(?:free|total|max)Memory|gc|addShutdownHook)\b)|\.getClass\s{0,2}\(\s{0,2}\)\s{0,2}\.(?!(?:getName|getSimpleName|hashCode)\(\)(?!\s{0,2}[.[]))|\bforName\s{0,2}\(\s{0,2}["'](?![\w.]{2,60}Driver["']\s{0,2}\)(?:$|[;`\s])|(?!(?:java|javax|jdk|sun|com\.sun|org\.(?:apache|springframework|codehaus|mozilla|python))\.)\w{2,20}\.[\w.]{2,60}["']\s{0,2}\))|#(?:_memberAccess|context|application|session|attr|request|parameters)\b\s{0,4}(?:\[|=|\.)|@\w{2,20}\.[\w.]{4,80}@\w|\bDEFAULT_MEMBER_ACCESS|#\w{1,20}\s{0,4}=\s{0,4}(?:new\s|@|\(#)|\bxwork\.MethodAccessor|(?:^|[.&?])(?:class|\w{1,24}\.class)(?:\.|\[["'])(?:module|classLoader|protectionDomain)\b|ysoserial|\bfreemarker\.template\.utility|@Grab(?:Config|Resolver|Exclude)?\s{0,2}\(|@ASTTest\s{0,2}\(|["']\s{0,2}\.\s{0,2}execute\s{0,2}\(\s{0,2}\)|"@type"\s{0,4}:\s{0,4}"L?(?:java|javax|com|org|net|ch)\.|%\{\s{0,4}(?:[#(]\s{0,2}[\w@#('"]|\d{1,9}\s{0,2}[*+%-])|\$\{\s{0,4}(?:\(\s{0,2})?#\w{1,20}\s{0,2}=/g,
    counts: isNoMessage,
    examples: {
      attacks: [
        "T(java.lang.Runtime).getRuntime().exec('id')",
        ...['%{#context}', 'redirect:${#context}', 'method:#_memberAccess'],
        ...['${applicationScope}', '${pageContext.request.getSession()}'],
        ...['ProcessBuilder("id").start()', 'jdk.nashorn.internal.objects.NativeString'],
        'class.module.classLoader.x',
        '@java.lang.Math@PI',
        ...["''.getClass().forName('x')", "a.getClass().getName().getClass().forName('x')"],
        ...['T(java.lang.Runtime) is', 'java.lang.Runtime.getRuntime() is x'],
        'Runtime.getRuntime().exec("id") returns a list',
        ...['@GrabConfig(disableChecksums=true)', '"id".execute().text'],
      ],
      benign: [
        'Runtime.getRuntime().availableProcessors() says 1',
        ...['a.getClass().getName() prints it', 'String s = a.getClass().getSimpleName();'],
        'java.lang.Runtime is final',
        ...['Class.forName("Foo") throws E', 'new ProcessBuilder("ls").start() throws IOException'],
        'Runtime.getRuntime().exec("ls") doesn\'t return output',
        'Runtime.getRuntime().exec("notepad.exe"); works, but ProcessBuilder is better',
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
    proves: 'is a serialized object of Java, .NET, Python or Ruby',
    source: 'Java Object Serialization Specification; MS-NRBF; PEP 307; Ruby Marshal format',
    strong: true,
    confirmedBy: [944, 934],
    needs: 0,
    literals: [
      '\xac\xed\0\x05',
      '\0\x01\0\0\0\xff',
      '\xff\x01\x32',
      ...words('\x80\x02 \x80\x03 \x80\x04 \x80\x05 \x04\x08o: \x04\x08u: \x04\x08e:'),
    ],
    kinds: ['binary', 'text'],
    pattern: new RegExp(serialized, 'g'),
    examples: {
      attacks: [
        'rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcA==',
        'AAEAAAD/////AQAAAAAAAAAMAgAAAA==',
        '/wEyxBEAAQAAAP////8BAAAA',
        ...['gASMBXBvc2l4jAZzeXN0ZW2TLg==', 'gAIoY3Bvc2l4CnN5c3RlbQo='],
        ...['gAR9lCiMAWGU', 'gAJdKGNvcwpzeXN0ZW0K'],
        'BAhvOhVHZW06Okluc3RhbGxlcg==',
      ],
      benign: [
        ...['\x04\x08{\x07I"\x0fsession_id', '\x80\x02ab', '\x80\x01\x95'],
        '/wEPDwUKMTIzNDU2Nzg5MGRk',
        'iVBORw0KGgoAAAANSUhEUg==',
        'AAAA',
      ],
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
