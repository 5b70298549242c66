/** Detectors of templates, XML entities, queries that are no SQL, requests and header lines. */

import type { ByteString } from '../../../base/byte-string.ts';
import { SEEN } from '../bytes-seen.ts';
import { words } from '../literals.ts';
import { leavesString } from '../own-code.ts';
import { patternFamily, textKinds, type PatternDetector } from '../patterns.ts';
import { verbsAfter } from '../verbs-after.table.ts';

const controls = Array.from({ length: 33 }, (_, at) => String.fromCharCode(at < 32 ? at : 0x7f));
/**
 * Where clients name addresses of their own: the page that they come from, and where OAuth sends
 * its answer, which for programs is the loopback address (RFC 8252, section 7.3).
 */
const ownAddresses =
  /^headers\.(?:referer|origin)$|(?:^|[.[ ])(?:post_logout_)?redirect_?ur[il]s?\]?(?:\.(?:array_)?\d{1,3}|\[\d{0,3}\])?$/i;

const rows: readonly PatternDetector[] = [
  {
    id: 198_500,
    name: 'template-expression',
    proves: 'is an expression that a template engine computes',
    source: 'Manuals of Jinja, Twig, FreeMarker, Velocity, Thymeleaf, ERB, Handlebars',
    strong: true,
    confirmedBy: [934, 944],
    needs: 0,
    literals: words(
      `{{ \${ #{ *{ @{ @( <%= [[ {% {# ~{ <#assign ?new #set {php} {if {elseif: {$smarty. {smarty
      {self:: redirect:\${`,
    ),
    pattern:
      /(?:\{\{|\$\{|#\{|\*\{|@\{|<%=|\[\[|\{%(?!\d)|\{#|~\{)-?\s{0,8}(?:["']?\d{1,10}["']?\s{0,4}[*+%-]\s{0,4}["']?\d{1,10}|(?!request\.(?:user|path|method|GET|get_host|get_full_path|META|csp_nonce)\b[\w.]{0,40}\s{0,4}(?:\|\s{0,2}\w{1,16}\s{0,2})?\}\})(?:self|config|request|settings|lipsum|cycler|joiner|namespace|url_for|get_flashed_messages|_self|app|dump|range|'{2}|"{2}|\[\]|\(\))\s{0,2}(?:\.|\[|\|)\s{0,4}["'_a-z]|dump\s{0,2}\(|[^{}\n]{0,120}(?:__\w{2,20}__|\|\s{0,4}(?:attr|filter|map|sort|reduce|system|passthru)\s{0,2}\((?!attribute\s?=\s?["'](?!__)[a-z][a-z_]{0,40}["']\s?[,)])|getRuntime|forName|new\s{1,4}\w|\.exec\s{0,2}\(|system\s{0,2}\(|import\s{1,4}os|File\.open|IO\.popen|`\w[^`\n]{0,80}`|\?new\s{0,2}\(|constructor|T\(|lookup\s{1,4}string))|@\(\s{0,4}\d{1,10}\s{0,4}[*+]\s{0,4}\d{1,10}\s{0,4}\)|<#assign\s|\?new\s{0,2}\(\s{0,2}\)|#set\s{0,2}\(\s{0,2}\$(?!\w{1,32}\s{0,2}=\s{0,2}(?:\$\w{1,32}|\d{1,9})(?:\s{0,2}[+-]\s{0,2}(?:\$\w{1,32}|\d{1,9}))?\s{0,2}\))|\{php\}|\{Smarty(?:_\w|::)|\{self::\w|\bredirect:\$\{|\{if\s{1,4}(?:phpinfo|system|exec|passthru|shell_exec|eval|file_get_contents)\s{0,2}\(|\{%-?\s{0,4}(?:include|import|extends|source)\s{1,4}["'](?:[\\/]|\.\.|\w{2,8}:)|\{\{\s{0,4}(?:(?:include|source|template)\s{0,2}\(\s{0,2}["'](?:[\\/]|\.\.)|["'][^"'\n]{1,64}["']\s{0,2}\|\s{0,2}file_excerpt|["'][^"'\n]{0,16}["']\s{0,2}\+\s{0,2}["']|=\s{0,2}(?:\d{1,10}\s{0,2}[*+%-]|global\.|process\.|root\.)|settings\.SECRET_KEY\b)|<%=\s{0,4}(?:Dir|File|IO|Kernel|ENV|Process)\s{0,2}[.[]|\{\$smarty\.(?:version|template|current_dir|const|env|server|request)\b|__\$\{[^}]{1,200}\}__|\{(?:if|elseif):[^{}\n]{0,120}\w\(|\{\{\s{0,4}(?:constructor\s{0,2}\.|(?:this|\$on|\$eval|toString|'a'|a)\s{0,2}(?:\.|\[|=)\s{0,2}(?:constructor|__proto__|toString))/g,
    examples: {
      attacks: [
        '{{7*7}}',
        '${7*7}',
        '<%= 7*7 %>',
        '{{config.items()}}',
        "{{''.__class__}}",
        '#{3*3}',
        '<#assign x=1>',
        ...['{if:phpinfo()}{end if}', '{$smarty.version}', '{if phpinfo()}{/if}', '{Smarty::$a}'],
        ...[
          "{% include '/etc/passwd' %}",
          "{{ source('/etc/passwd') }}",
          '{{settings.SECRET_KEY}}',
        ],
        ...['{{"a"+"b"}}', '{{=7*7}}', "<%= Dir.entries('/') %>", 'redirect:${#a}'],
      ],
      benign: [
        '{{ name }}',
        '{{ dumped }}',
        '${user.name}',
        '#{id}',
        '{% if a %}',
        '{{count}} of 7*7',
        ...['{{ request.user.username }}', "{% include 'a/head.html' %}", '{if $a}{$b}{/if}'],
        ...["{{ include('head.html') }}", '{{ settings.SITE_NAME }}', '{{= name }}'],
        '#set($total = $a + $b)',
        "{{ items | map(attribute='name') | join(', ') }}",
      ],
    },
  },
  {
    id: 198_510,
    name: 'xml-external-entity',
    proves: 'defines an XML entity or reads an external one',
    source: 'XML 1.0, sections 4.2 and 2.8',
    strong: true,
    confirmedBy: [941, 930],
    needs: SEEN.less,
    literals: ['<!entity', '<!doctype'],
    pattern:
      /<!ENTITY\s{1,16}(?!\w{1,32}\s{1,4}"(?:&#x?\w{1,6};|[^"<>%&]{0,64})"\s{0,4}>)(?:%\s{1,8})?[\w.:-]{1,64}\s{1,16}(?:SYSTEM|PUBLIC|["'])|<!DOCTYPE\s{1,16}[\w.:-]{1,64}\s{1,16}(?:SYSTEM\s{1,8}(?!["'][\w-]{1,32}\.dtd["']\s{0,4}>)|PUBLIC\s{1,8}["'](?!-\/\/(?:W3C|IETF|OASIS|SUN|APPLE)))|<!DOCTYPE[^>[]{1,200}\[\s{0,16}<!|<!ENTITY\b(?!\s{1,16}\w{1,32}\s{1,4}"(?:&#x?\w{1,6};|[^"<>%&]{0,64})"\s{0,4}>)/gi,
    examples: {
      attacks: [
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/x">]>',
        '<!DOCTYPE a SYSTEM "http://x/y.dtd">',
      ],
      benign: [
        '<!DOCTYPE html>',
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">',
        '<a>ENTITY</a>',
        'put <!ENTITY nbsp "&#160;"> into it',
        '<!DOCTYPE note SYSTEM "note.dtd"><note/>',
      ],
    },
  },
  {
    id: 198_511,
    name: 'xml-inclusion',
    proves: 'includes another document in XML or runs a stylesheet',
    source: 'XInclude 1.1; XSLT 1.0, section 14',
    strong: true,
    confirmedBy: [941],
    needs: SEEN.less,
    literals: words(':include schemalocation <xsl: xmlns:'),
    pattern:
      /<[\w-]{1,16}:include\s(?![^>]{0,300}href\s{0,4}=\s{0,4}["']cid:)[^>]{0,300}(?:href|parse)|XMLSchema-instance["'][^>]{0,200}schemaLocation\s{0,4}=\s{0,4}["'][^"']{0,100}(?:file:|gopher:|ftp:)|<xsl:(?:value-of|include|import|copy-of)\s[^>]{0,200}(?:system-property|document\s{0,2}\(|php:|file:|unparsed-text)|xmlns:\w{1,16}\s{0,4}=\s{0,4}["'](?:http:\/\/xml\.apache\.org\/x(?:alan|slt)\/java|java:|urn:schemas-microsoft-com:xslt|http:\/\/php\.net\/xsl)/gi,
    examples: {
      attacks: [
        '<xi:include href="file:///etc/x" parse="text"/>',
        '<xsl:value-of select="system-property(\'x\')"/>',
      ],
      benign: [
        '<include file="a"/>',
        '<xsl:value-of select="name"/>',
        '<xop:Include href="cid:1@example.com"/>',
      ],
    },
  },
  {
    id: 198_520,
    name: 'prototype-pollution',
    proves: 'sets a property of the prototype of all objects',
    source: 'ECMA-262, sections 10.4.7 and B.2.2.1',
    strong: true,
    confirmedBy: [934],
    needs: 0,
    literals: ['__proto__', 'constructor'],
    pattern:
      /(?:^|[[.&?"'])__proto__(?:$|[\].[="'])|"constructor"\s{0,4}:\s{0,4}\{\s{0,4}"prototype"\s{0,4}:|(?:^|[[.])constructor(?:\]\[|\.|\[)["']?prototype\b/g,
    examples: {
      attacks: [
        'a[__proto__][x]',
        '{"__proto__":{"a":1}}',
        '{"constructor":{"prototype":{"a":1}}}',
        'a[constructor][prototype][x]',
      ],
      benign: [
        ...['the proto', 'constructor', 'my__proto__x', 'what __proto__ is'],
        'a.__proto__ === b.prototype',
      ],
    },
  },
  {
    id: 198_530,
    name: 'nosql-operator',
    proves:
      'puts an operator of MongoDB in place of a user name or password, or runs a script by one',
    source: 'MongoDB 8 manual, "Query and Projection Operators"',
    strong: true,
    confirmedBy: [942],
    needs: SEEN.dollar,
    literals: ['$'],
    pattern:
      // Clients of Strapi, Feathers and LoopBack filter by `price[$gt]`.
      /(?:^|\[["']?|\.|[{,]\s{0,4}["']?)\$(?:where|expr|func|function|accumulator|jsonSchema|lookup)(?:$|["']?\]|["']?\s{0,4}:)|(?:user(?:_?name)?|login|e?mail|pass(?:w(?:or)?d|code|phrase)?|pwd|token|key|code|otp|pin|secret|hash|session|auth|account|credentials?)(?:\]?\[["']?|\.|["']?\s{0,4}:\s{0,4}\{\s{0,4}["']?)\$(?:eq|ne|gt|gte|lt|lte|in|nin|regex|exists|not|nor|or|mod|size|type)(?:$|["']?\]|["']?\s{0,4}:)|\$(?:ne|gt|gte|nin|regex)["']?\s{0,4}:\s{0,4}(?:""|''|\[\s{0,4}\]|["'](?:\.\*|\^(?:["'.]|$)))/gi,
    examples: {
      attacks: ['user[$ne]', '{"a":{"$gt":""}}', '{$where: 1}', 'user.password.$ne'],
      benign: [
        `{ name: { $regex: '^A' } }`,
        ...['costs $in total', '$5', '[$x]', '$_GET', 'filters[price][$gt]=10'],
        ...['{"where":{"price":{"$gt":10}}}', 'age[$in]', '{"$or":[{"a":1},{"b":2}]}'],
      ],
    },
  },
  {
    id: 198_531,
    name: 'nosql-script',
    proves: 'closes a quote in a script of MongoDB and adds a condition',
    source: 'MongoDB 8 manual, "$where"',
    strong: true,
    confirmedBy: [942],
    needs: 0,
    literals: ['||', '&&', ';', 'db.', '$or', '$and', '$nor'],
    pattern:
      /["'][\s;)}]{0,6}(?:\|\||&&|;)\s{0,4}(?:this\.\w{1,40}\s{0,4}(?:[=!<>.]|\.match)|return\s{1,4}(?:true|1|this)|db\.\w|sleep\s{0,2}\(\s{0,2}\d|while\s{0,2}\(\s{0,2}(?:true|1)|["']?[\w]{0,8}["']?\s{0,2}={2,3}\s{0,2}["']?)|\bdb\.(?:getCollection|collection|\w{2,32}\.(?:insert|drop|remove))\s{0,2}\(|[;"'(|&]\s{0,4}db\.\w{2,32}\.find\s{0,2}\(|\$(?:n?or|and)["']?\s{0,4}:\s{0,4}\[\s{0,4}\{\s{0,4}\}|[\d"']\s{0,2};\s{0,2}(?:var|let)\s[^\n]{1,60}\bnew Date\b[^\n]{0,60}\bdo\s{0,2}\{[^\n]{0,80}\}\s{0,2}while\b/g,
    examples: {
      attacks: [
        ...["' || this.a == 'b", "'; return true; var x='", "' || 'a'=='a"],
        "', $or: [ {}, { 'a':'a",
        '0;var d=new Date(); do{c = new Date();}while(c-d<10000)',
      ],
      benign: ["it's || not", "'; this is it", 'db.find', 'db.users.find({ a: 1 })'],
    },
  },
  {
    id: 198_540,
    name: 'local-address',
    proves: 'is a URL of a local or a metadata address',
    source: 'RFC 6890; metadata services of AWS, Azure, Google, Alibaba, Oracle',
    strong: true,
    confirmedBy: [931, 934],
    exceptLabels: ownAddresses,
    address: true,
    needs: SEEN.slash,
    literals:
      words(`//localhost: @localhost: .svc docker.internal 169.254. 100.100.100.200 192.0.0.192 metadata instance-data 1] a9fe] [fd00 0x 0177. 2130706433
      2852039166 017700000001 3232235521 127. 0.0.0.0 //0 @0 localtest.me nip.io xip.io sslip.io`),
    pattern:
      /(?:^|[\s"'@(,]|(?<!redirect_ur[il])=)(?!(?:redis|rediss|postgres|postgresql|mysql|mariadb|mongodb|amqps?|mqtts?|nats|memcached|elasticsearch):\/\/)(?:[a-z][a-z0-9+.-]{1,12}:)?\/\/(?:[^\s/@?#"']{0,64}@)?(?:169\.254\.169\.254|169\.254\.170\.2|100\.100\.100\.200|192\.0\.0\.192|metadata\.google\.internal|metadata\.azure|(?:[\w-]{1,63}\.){1,3}svc(?:\.cluster\.local)?(?=[/:?#]|$)|host\.docker\.internal|localhost:(?:22|23|25|53|110|111|135|139|143|389|445|873|1433|1521|2049|237[569]|3306|3389|5432|5900|5984|6379|8500|9042|9[23]00|10250|11211|27017)(?=[/?#]|$)|instance-data(?:\.ec2\.internal)?|\[?(?:0{0,4}:){1,7}(?:ffff:)?(?:0{0,3}1|7f00:0{0,3}1|a9fe:a9fe|169\.254\.169\.254|127\.\d{1,3}\.\d{1,3}\.\d{1,3})\]|\[fd00:ec2::254\]|0x[a-f0-9]{8}(?=[/:?#]|$)|0x7f\.[\w.]{1,32}(?=[/:?#]|$)|0{1,4}177\.[\d.]{1,24}(?=[/:?#]|$)|2130706433|2852039166|017700000001|3232235521|127\.(?:\d{1,3}\.){0,2}\d{1,3}\.?(?=[/:?#]|$)|0\.0\.0\.0|(?:0|127\.1|127\.0\.1)(?=[/:?#]|$)|(?:localtest\.me|[\w.-]{1,64}\.(?:nip\.io|xip\.io|sslip\.io))(?=[/:?#]|$))/gi,
    counts: isNoNotice,
    examples: {
      attacks: [
        'http://169.254.169.254/latest/meta-data/',
        'http://127.0.0.1:8080/',
        'http://[::1]/',
        'http://2130706433/',
        'http://0x7f000001/',
        ...['http://127.0.0.1:5000/ works', 'http://169.254.169.254:80 works'],
        ...['dict://localhost:11211/', 'https://kubernetes.default.svc/api'],
      ],
      benign: [
        'http://localhost:3000/',
        'REDIS_URL=redis://localhost:6379/0',
        'https://a.svc.example/',
        'https://example.com/127.0.0.1',
        'http://128.0.0.1/',
        'http://127.0.0.1:5000 works',
        ...['see 127.0.0.1', 'curl "http://localhost:9200/_search" says'],
      ],
    },
  },
  {
    id: 198_541,
    name: 'localhost-url',
    proves: 'is a URL of an internal host',
    source: 'RFC 1918, RFC 6761',
    strong: false,
    confirmedBy: [931, 934],
    exceptLabels: ownAddresses,
    address: true,
    needs: SEEN.slash,
    literals: words('//localhost @localhost //10. @10. 192.168. 172.'),
    pattern:
      /^(?:https?|ftp):\/\/(?:[^\s/@?#]{0,64}@)?(?:localhost|10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})(?=[/:?#]|$)/gi,
    examples: {
      attacks: ['http://localhost/admin', 'http://10.0.0.1/'],
      benign: ['http://localhost.example/', 'localhost'],
    },
  },
  {
    id: 198_542,
    name: 'callback-host',
    proves: 'names a host by which security scanners learn that a server called it',
    source: 'Documentation of Interactsh, Burp Collaborator, DNSLog and CEYE',
    strong: true,
    confirmedBy: [931, 934, 932, 944],
    needs: 0,
    literals: words(
      'interact.sh interactsh oast. oastify. burpcollaborator. dnslog. ceye.io bxss. xss.ht xss.report r87.me',
    ),
    pattern:
      /(?:^|[^\w-])(?:[\w-]{1,63}\.){0,6}(?:interact\.sh|interactsh\.com|oast\.(?:fun|pro|live|site|online|me)|oastify\.com|burpcollaborator\.net|dnslog\.(?:cn|link|pw|io)|ceye\.io|bxss\.(?:me|in)|xss\.(?:ht|report)|r87\.me)(?![\w-])/gi,
    examples: {
      attacks: [
        'http://a1.oast.fun',
        '//x.interact.sh/',
        'c5a7.oast.fun',
        'x@burpcollaborator.net',
        'a.dnslog.cn/x',
      ],
      benign: ['interact.shop', 'toast.fun', 'roast.me', 'an interact.show'],
    },
  },
  {
    id: 198_543,
    name: 'remote-file',
    proves: 'names a file on another host and cuts off the ending that a program would add',
    source: 'OWASP Web Security Testing Guide 4.2, section 4.7.11.2',
    strong: true,
    confirmedBy: [931],
    needs: SEEN.colon | SEEN.slash,
    literals: ['?', '\0', '#'],
    pattern:
      /^\s{0,4}(?:https?|ftps?|\\\\):?[\\/]{2}[^\s/?#]{1,255}\/[^\s?#]{0,400}\.(?:txt|php\d?|phtml|inc|ini|dat|log|gif|jpe?g|png|bmp)(?:\?{1,4}|#|\0[^\n]{0,40})\s{0,4}$/gi,
    examples: {
      attacks: [
        'http://10.1.2.3/shell.txt?',
        'https://evil.example/a/r57.gif??',
        'ftp://x.example/c.php#',
      ],
      benign: [
        'https://cdn.example/a.png?v=1',
        'https://cdn.example/a.png',
        'see https://x.example/a.txt? No.',
      ],
    },
  },
  {
    id: 198_550,
    name: 'header-injection',
    proves: 'ends a line and adds a header field or a request',
    source: 'RFC 9112, section 2.1; RFC 5321, section 3.3',
    strong: true,
    confirmedBy: [921],
    needs: SEEN.lineEnd,
    // A document has its header lines in parts.
    kinds: textKinds,
    literals:
      words(`set-cookie content-length transfer-encoding x-forwarded- access-control-allow- http/
      mail rcpt`),
    pattern:
      /^(?![\w-]{1,64}\s?:)[^\r\n]{0,65536}[\r\n]{1,4}\s{0,4}(?:(?:set-cookie|content-length|transfer-encoding|x-forwarded-(?:for|host)|access-control-allow-\w{4,12})\s{0,2}:\s{0,4}[^\r\n\s]|(?:GET|POST|PUT|HEAD|DELETE|OPTIONS)\s{1,4}\S{1,200}\s{1,4}HTTP\/\d|HTTP\/\d\.\d\s{1,4}\d{3}|(?:MAIL FROM|RCPT TO):)/gi,
    examples: {
      attacks: ['x\r\nSet-Cookie: a=b', 'x\r\nContent-Length: 0', 'a\r\nGET / HTTP/1.1'],
      benign: ['a\r\nb: c', 'line\nhost is here', 'x\r\ny', 'Meeting\nLocation: Room 5'],
    },
  },
  {
    id: 198_552,
    name: 'field-injection',
    proves: 'ends a line and adds a header field that redirects, or further recipients of a mail',
    source: 'RFC 9110, sections 7.2, 8.3 and 10.2.2; RFC 5322, section 3.6.3',
    strong: true,
    confirmedBy: [921],
    needs: SEEN.lineEnd | SEEN.colon,
    kinds: textKinds,
    literals: words('location host refresh content-type bcc cc'),
    pattern:
      // People write "Location:" into the lines of a text; its first line has words.
      /^(?![\w-]{1,64}\s?:)\S{0,2048}[\r\n]{1,4}[ \t]{0,4}(?:location[ \t]{0,2}:[ \t]{0,4}(?:[a-z]{2,12}:)?[\\/]{2}|host[ \t]{0,2}:[ \t]{0,4}[\w-]{1,63}\.\w|refresh[ \t]{0,2}:[ \t]{0,4}\d{1,4};|content-type[ \t]{0,2}:[ \t]{0,4}\w{2,20}\/\w|b?cc[ \t]{0,2}:[ \t]{0,4}[^\s@]{1,64}@\w)/gi,
    examples: {
      attacks: ['x\nLocation: //y', '1\r\nHost: evil.example', 'a@b.example\nBcc: c@d.example'],
      benign: [
        'Meeting on Monday\nLocation: https://meet.example/1',
        'x\nLocation: Room 5',
        'a\ncc: b',
      ],
    },
  },
  {
    id: 198_551,
    name: 'credentials-with-controls',
    proves: 'has control characters in a user name or password',
    source: 'RFC 7617, section 2',
    strong: true,
    confirmedBy: [921, 920],
    needs: 0,
    literals: controls,
    kinds: ['credentials'],
    pattern: /[\0-\x1f\x7f]/g,
    examples: {
      attacks: ['Basic cm9vdDp4DQp1c2VyPXJvb3QNCmhhc3Jvb3Q9MQ=='],
      benign: ['Basic byduZWlsOnA7dz1yYyQoeCk='],
    },
  },
  {
    id: 198_560,
    name: 'ldap-filter',
    proves: 'closes an LDAP filter and adds another',
    source: 'RFC 4515, section 3',
    strong: true,
    confirmedBy: [921],
    needs: SEEN.paren,
    literals: ['*)', ')(', '|', '&', '!'],
    pattern:
      // Text that gets into a filter closes it first. What stands before it is asked for last:
      // at every byte it would cost 128 steps.
      /(?=\*?\)|^)(?<!\([^()]{0,128})(?:\*?\)\s{0,4}\(?\s{0,4}(?:[&|!]\s{0,4}\(|\(\s{0,4}[&|!]\s{0,4}\(?)?\s{0,4}[\w-]{1,32}\s{0,2}[~<>]?=\s{0,2}[^()\s]{0,64}\)?\s{0,2}\)?\s{0,2}\(\s{0,2}[&|!]|\*\)\s{0,2}\(\s{0,2}[\w-]{1,32}=\s{0,2}\*?|\)\s{0,2}\(\s{0,2}[|&!]\s{0,2}\(\s{0,2}[\w-]{1,32}=|^[\w*.@-]{0,32}\)\(\s{0,2}[&|!]\)?$|\*\)\)%?0{0,2}\0?$|(?<=^\*)\)\(\w{1,32}|^[^()]{0,64}\)\([\w-]{1,32}[~<>]?=)/g,
    examples: {
      attacks: ['*)(uid=*', 'admin)(&)', 'x)(|(password=*))', '*)(mail=*', 'a)(memberOf=cn=x'],
      benign: ['a * (b)', '(x) (y)', '(&(objectClass=user)(cn=*))', '(&(cn=*)(mail=*))'],
    },
  },
  {
    id: 198_561,
    name: 'xpath-condition',
    proves: 'closes a quote in a query of XPath',
    source: 'XPath 1.0, sections 3 and 4',
    strong: true,
    confirmedBy: [942],
    needs: 0,
    needsOne: SEEN.quote | SEEN.doubleQuote | SEEN.other,
    literals: ['/', '(', '::'],
    pattern:
      /["'][\])\s]{0,6}(?:or|and|\|)\s{0,4}(?:\/{1,2}[\w*]|(?:count|name|local-name|string-length|substring|contains|starts-with|position|last|text|doc|node)\s{0,2}\(|(?:parent|child|self|ancestor|following|descendant)::)|\]\s{0,4}\|\s{0,4}\/{1,2}[\w*]/g,
    counts: (text, start) => !/["']/.test(text.charAt(start)) || leavesString(text, start),
    examples: {
      attacks: [
        ...["' or count(/*)=1 or 'a'='b", "x'] | //user", "' or name()='a"],
        `' or "a"="a" or count(/*)=1 or 'a'='b`,
      ],
      benign: ["'a' or b", '[1] | 2', "it's or (x)", "//b[@c='d' and contains(., 'e')]"],
    },
  },
  {
    id: 198_571,
    name: 'token-without-signature',
    proves: 'is the head of a token that nobody signed',
    source: 'RFC 7519, section 6; RFC 8725, section 3.2',
    strong: true,
    confirmedBy: [921, 934],
    needs: SEEN.brace | SEEN.doubleQuote | SEEN.colon,
    literals: ['"alg"'],
    pattern: /^\s{0,8}\{[^{}]{0,512}"alg"\s{0,4}:\s{0,4}"none"/gi,
    examples: {
      attacks: ['{"alg":"none","typ":"JWT"}', '{"typ":"JWT", "alg": "NoNe"}'],
      benign: ['{"alg":"HS256"}', '{"algorithms":["none"]}', 'use "alg":"none" in tests'],
    },
  },
  {
    id: 198_570,
    name: 'executable-upload',
    proves: 'is the name of a file that servers run',
    source: 'Manuals of PHP-FPM, IIS, Tomcat: handlers by extension',
    strong: true,
    confirmedBy: [933],
    // Paths and links of every PHP site end in `.php`.
    variables: 'FILES',
    needs: 0,
    literals:
      words(`.php .phtml .phar .pht .jsp .asp .ashx .asmx .cer .asa .cgi .shtml .cfm .htaccess
      .user.ini`),
    pattern:
      /[\w)(\s-]\.(?:php[3-8]?|phtml|phar|pht|jspx?|jspf|aspx?|ashx|asmx|cer|asa|cgi|shtml|cfm|htaccess|user\.ini)(?:\.\w{1,8})?(?:$|[\0;%.\s]|::\$)/gi,
    examples: {
      attacks: ['shell file.php', 'a b.phtml', 'x y.jsp'],
      benign: ['a photo.jpg', 'my notes.pdf', "it's_a_test.txt"],
    },
  },
];

/** The family of what is injected into other languages. */
export const injection = patternFamily('injection', rows, [...textKinds, 'url', 'document']);

const ownMachine = /\/\/(?:127\.|0\.0\.0\.0|localhost:)/i;

/** No client takes a host or a port with a blank in it. */
const saidOfHost = new RegExp(String.raw`^:\d{2,5} (?:${verbsAfter.address})\b`, 'i');

/** Whether an address is more than one of a program on the writer's own machine, in a sentence. */
function isNoNotice(text: ByteString, start: number, end: number): boolean {
  if (ownMachine.test(text.slice(start, end)) && saidOfHost.test(text.slice(end, end + 24))) {
    return false;
  }
  if (!/[\s"'(]/.test(text.charAt(start)) || !ownMachine.test(text.slice(start, end))) return true;
  return !/[a-z]{2}/i.test(text.slice(Math.max(0, start - 40), start));
}
