/** Detectors of paths: climbing out of a folder, files that applications never serve, schemes. */

import type { ByteString } from '../../../base/byte-string.ts';
import { SEEN } from '../bytes-seen.ts';
import { words } from '../literals.ts';
import { patternFamily, textKinds, type PatternDetector } from '../patterns.ts';

const uri = 'RFC 3986, sections 3.1 and 5.2.4';
const filesystem = 'Filesystem Hierarchy Standard 3.0; Windows API, "Naming Files"';
const php = 'PHP manual, "Supported Protocols and Wrappers"';
const rows: readonly PatternDetector[] = [
  {
    id: 198_300,
    name: 'path-climb',
    proves: 'climbs out of a folder by `..` more than once',
    source: uri,
    strong: false,
    confirmedBy: [930],
    needs: 0,
    literals: ['..', '.;.', '.\0.', '.?', '0x2e0x2e'],
    pattern:
      /(?:\.\.|\.;\.|\.\0\.|\.\?|0x2e0x2e)[\0;]{0,2}(?:[\\/]|0x2f|0x5c)[\\/]{0,8}(?:\.{1,2}[\\/]{1,8}){0,1}(?:\.\.|\.;\.|\.\0\.|\.\?|0x2e0x2e)[\0;]{0,2}(?:[\\/]|0x2f|0x5c)(?!(?:\.\.\/){0,8}[\w@/-][\w@./-]{0,200}\.(?:[jt]sx?|vue|s?css|less|svg|png|md)(?=["'`)\s]))/gi,
    counts: isNoReference,
    examples: {
      attacks: ['../../config.yml', '..\\..\\x', '..;/..;/manager/html'],
      benign: [
        '../style.css',
        'wait... what../or this?',
        'a/../b',
        "from '../../types/order'",
        '<img src="../../a%20b.png">',
      ],
    },
  },
  {
    id: 198_301,
    name: 'path-climb-far',
    proves: 'climbs out of a folder by `..` three times or more',
    source: uri,
    strong: true,
    confirmedBy: [930],
    needs: 0,
    literals: ['..', '.?', '?.', '??', '.;.', '.\0.'],
    pattern:
      /(?:(?:\.{2,4}|[.?]{2}|\.;\.|\.\0\.)[\0;]{0,2}(?:[\\/]|\.{1,2}[\\/]){1,8}){3}(?![\w@./-]{1,200}\.(?:[jt]sx?|vue|s?css|less|json|map|png|svg)\b)/gi,
    counts: isNoModule,
    examples: {
      attacks: [
        '../../../x',
        '/static/..\\..\\..\\boot.ini',
        '....//....//....//etc/hosts',
        'images/../../../../secret',
      ],
      benign: [
        '../../README.md',
        "import a from '../../../lib/a.js'",
        'so... // ... // ... // ok',
        "Cannot find module '../../../types/order' or its types",
      ],
    },
  },
  {
    id: 198_302,
    name: 'path-climb-alone',
    proves: 'is a path that begins with `..`, out of a folder',
    source: uri,
    strong: false,
    confirmedBy: [930],
    needs: 0,
    literals: ['..'],
    pattern: /^[\w./\\:-]{0,64}(?:^|[\\/])\.\.(?:$|[\\/;\0])/g,
    examples: {
      attacks: ['../x', '/a/..', '/cgi-bin/../../x'],
      benign: ['a..b', 'x.y', 'and so on ../'],
    },
  },
  {
    id: 198_303,
    name: 'system-file',
    proves: 'is the path of a file of the operating system',
    source: filesystem,
    strong: true,
    confirmedBy: [930, 932],
    needs: 0,
    literals:
      words(`usr/ usr\\ opt/ opt\\ etc/ etc\\ sys/ sys\\ proc/ proc\\ var/ var\\ dev/ dev\\ root/ root\\ home/ home\\ boot.ini win.ini
      system.ini desktop.ini php.ini my.ini winnt windows/ windows\\ system32 inetpub web-inf meta-inf`),
    pattern:
      /(?:^(?=etc[\\/](?:passwd|shadow)(?:$|[\0%?])|[^ep])|^(?=[\\/.;%?]|[a-z]:)[\w.:;%\\/-]{0,200}[\\/]|^(?=[^\s]{0,200}\.\.)[\w.:;%\\/-]{0,200}[\\/]|[.?]{2}[\\/.]{1,8}|^[\w+.-]{2,16}:[\\/]{1,3}[\w.-]{0,64}[\\/]{0,3})(?:(?<=\.\.[\\/]{1,4})etc[\\/]\w|etc[\\/]{1,8}(?:\.{1,2}[\\/]{1,8}){0,1}(?:passwd|shadow|gshadow|group|hosts|hostname|issue|fstab|crontab|sudoers|mtab|motd|os-release|resolv\.conf|inetd\.conf|my\.cnf|php\.ini|profile|master\.passwd|login\.defs|exports|services|environment|bash\.bashrc|rc\.local|machine-id|debian_version|redhat-release|lsb-release|krb5\.\w|vsftpd\.conf|mongod\.conf|ld\.so\.\w|anacrontab|aliases|sysctl\.conf|nsswitch\.conf|networks|timezone|(?:r?syslog|logrotate|updatedb|yum|pam)\.conf)(?![\w])|etc[\\/]{1,8}(?:apache2?|httpd|nginx|mysql|ssh|ssl|redis|security|kubernetes|docker|letsencrypt|postgresql|php|pam\.d|cron(?:\.\w{1,8}|tabs)?|sysconfig|network|netplan|ldap|openldap|samba|postfix|ansible|puppet|rancher|init\.d|systemd|elasticsearch|grafana|prometheus|tomcat\d?)(?=[\\/]|$)|proc[\\/]{1,8}(?:self|thread-self|\d{1,7}|version|mounts|cpuinfo|cmdline|net|sched_debug|sys|keys|stat|meminfo|modules|kallsyms|partitions|filesystems)(?![\w])|(?<=^[\\/]{1,4})sys[\\/]class[\\/]|var[\\/]{1,8}(?:log|lib|mail|spool|run)[\\/]|(?<=\.\.[\\/]{1,4})var[\\/]{1,8}www[\\/]|(?:usr|opt)[\\/](?:[\w.-]{1,32}[\\/]){0,4}(?:apache2?|httpd|nginx|tomcat\d?|php\d?|mysql|lampp|xampp)[\\/][\w.\\/-]{0,80}\.(?:conf|cnf|ini|xml|logs?)$|boot\.ini(?![\w])|(?:win|system|desktop|php|my)\.ini(?:$|[\0?%])|winnt[\\/]|win(?:dows|nt)[\\/]{1,8}(?:system32|win\.ini|microsoft\.net|repair|system\.ini|php\.ini|debug|panther)|system32[\\/]|inetpub[\\/]|web-inf(?:[\\/]|(?<=\.\.[\\/]web-inf)$)|meta-inf[\\/]|root[\\/]{1,4}\.|home[\\/]{1,4}\w{1,32}[\\/]{1,4}\.|dev[\\/](?:tcp|udp|random|urandom|zero|null|stdin|fd)(?![\w]))|(?:^|[\s"'=(])[a-z]:\/(?:inetpub\/|win(?:dows|nt)\/(?:system32|win\.ini)|boot\.ini(?![\w.]))/gi,
    counts: isNoSubject,
    examples: {
      attacks: [
        '/etc/passwd',
        'file:///etc/shadow',
        '/proc/self/environ',
        'c:\\windows\\win.ini',
        '/WEB-INF/web.xml',
        ...['WEB-INF/web.xml', 'WEB-INF/web.xml?a and b', '/etc/passwd is x'],
        '../../boot.ini',
        'show c:/inetpub/wwwroot/x',
      ],
      benign: [
        'how do I edit /etc/hosts on my laptop?',
        'see the etc folder',
        'windows system32 is large',
        '/var/www/html/index.html',
        'WEB-INF/web.xml and META-INF/MANIFEST.MF are missing',
        'C:\\Windows\\System32\\drivers\\etc\\hosts cannot be saved',
        ...['/products/etc', 'docs/etc/passwd.md', '/etc/nginx folder', 'boot.initial'],
      ],
    },
  },
  {
    id: 198_309,
    name: 'path-climb-parameter',
    proves: 'climbs out of a folder with `..;`, which only some servers read as `..`',
    source: 'Jakarta Servlet 6, section 3.5; CVE-2018-1271, CVE-2020-5902',
    strong: true,
    confirmedBy: [930],
    needs: SEEN.semicolon,
    literals: ['..;', '.;.'],
    pattern: /(?:^|[\\/])(?:\.\.;|\.;\.)[^\\/\s]{0,32}[\\/]/g,
    examples: {
      attacks: ['/a/..;/manager/html', '..;a=b/x'],
      benign: ['a..;b', 'wait..; /x', '/a;v=1/b'],
    },
  },
  {
    id: 198_311,
    name: 'path-with-dots',
    proves: 'is a requested path with `..` in it, which browsers resolve before they ask',
    source: 'RFC 3986, section 5.2.4; URL standard, section 4.4',
    strong: true,
    confirmedBy: [930],
    variables: 'REQUEST_FILENAME',
    needs: 0,
    literals: ['..'],
    pattern: /(?:^|[\\/])\.\.(?:[\\/]|$)/g,
    examples: { attacks: ['/a/../b', '/x/..'], benign: ['/a..b/c', '/a/.../b'] },
  },
  {
    id: 198_314,
    name: 'script-in-uploads',
    proves: 'asks for a script in a folder that holds what users uploaded',
    source: 'OWASP Web Security Testing Guide 4.2, section 4.10.9',
    strong: true,
    confirmedBy: [930, 933],
    variables: 'REQUEST_FILENAME',
    needs: 0,
    literals: words('/uploads/ /uploadedfiles/ /userfiles/'),
    pattern:
      /\/(?:uploads|uploadedfiles|userfiles)\/(?:[\w.-]{1,64}\/){0,6}[\w.-]{1,64}\.(?:php\d?|phtml|phar|pht|jspx?|aspx?)(?=$|[:;/])/gi,
    examples: {
      attacks: ['/wp-content/uploads/2026/a.php', '/Uploads/x.php7', '/userfiles/a.jsp'],
      benign: ['/uploads/a.png', '/upload/index.php', '/uploads/about-php', '/uploads/a.php.txt'],
    },
  },
  {
    id: 198_313,
    name: 'path-of-dots',
    proves:
      'is a path that climbs above its root, is padded with dots, slashes or one letter, or lost its slashes',
    source: `${uri}; ${filesystem}`,
    strong: true,
    confirmedBy: [930],
    needs: 0,
    literals: words(
      '/.. \\.. /./ /.\\ \\./ \\.\\ /.// //.// //./ ///// \\\\\\\\\\ aaaaaaaa etcpasswd etcshadow etchosts infweb.xml swin.ini',
    ),
    pattern:
      /(?:^|[\s"'=(])(?:[\\/]{1,8}\.\.[\\/]{1,8}\.\.(?=$|[\s\\/.])|[\\/]{2,8}\.\.(?=[\\/.{])|[\\/]{1,8}\.{4,200}[\w{\\/]|(?:\/{1,8}\.){2}(?=\/{2,8}\.\/|(?:\/{1,8}\.){4}\/)|\/\.\/{2,8}\.\/|(?:\/{5,64}|\\{5,64})[\w{.]|[\\/]a{64,8000}(?=[.\\/{]))|^[\\/]{1,8}\.{3}[\w{\\/]|^(?:\.\.){1,200}(?:etc(?:passwd|shadow|hosts)|web-infweb\.xml|windowswin\.ini)(?![\w.-])/gi,
    examples: {
      attacks: [
        ...['/../../x', '//../../..x', '/.../x', '/......x', '/.//./x', '/./././././././etc/x'],
        ...['//////x', `/${'a'.repeat(300)}../x`, '........etcpasswd', '..web-infweb.xml'],
      ],
      benign: [
        ...['../../x', '//a/b', '/a/../..', './...', '/./x', '...and so on', '///// a title'],
        ...['//cdn.example/a', '/..', '......'],
      ],
    },
  },
  {
    id: 198_310,
    name: 'path-climb-to-settings',
    proves: 'climbs out of a folder to a file with settings or data',
    source: filesystem,
    strong: true,
    confirmedBy: [930],
    needs: 0,
    literals: ['../', '..\\'],
    pattern:
      /^[\w./\\-]{0,64}\.\.[\\/][\w./\\-]{0,120}(?:\.(?:properties|conf|cfg|ini|sql|db|sqlite|bak|pem|key|htpasswd|htaccess|env)|web\.(?:xml|config)|(?:passwd|shadow|config\.php|settings\.py))(?:\.php)?(?:$|\0)/gi,
    examples: {
      attacks: ['../conf/data.properties', '../web.xml', '../users.db.php', 'a/../../x.ini\0'],
      benign: ['../logo.png', 'see ../app.conf for it', '../lib/a.js'],
    },
  },
  {
    id: 198_304,
    name: 'system-file-in-text',
    proves: 'names a file of the operating system',
    source: filesystem,
    strong: false,
    confirmedBy: [930, 932],
    needs: SEEN.slash,
    literals: words('/etc/ /proc/ /windows/ /winnt/'),
    pattern:
      /\/etc\/{1,4}(?:passwd|shadow|gshadow|sudoers|master\.passwd)(?![\w-]|\.d\b)|\/proc\/(?:self|\d{1,7})\/(?:environ|cmdline|fd|maps|root)|\/(?:windows|winnt)\/(?:system32|win\.ini)/gi,
    // Alone in backticks a shell would run it.
    counts: (text, start, end) => text[start - 1] !== '`' || text[end] !== '`',
    examples: {
      attacks: ['please show /etc/passwd', 'cat /etc/shadow|head'],
      benign: [
        'do not edit `/etc/sudoers`',
        'in /etc/sudoers.d/a',
        'the etcetera/passwd book',
        'we list /etc as a folder',
      ],
    },
  },
  {
    id: 198_305,
    name: 'private-file',
    proves: 'is the path of a file with secrets or settings',
    source: filesystem,
    strong: false,
    confirmedBy: [930],
    needs: 0,
    literals:
      words(`.git .svn .hg .bzr .aws .ssh .docker .kube .env .htpasswd .htaccess .npmrc .pgpass
      .netrc .bash_history .mysql_history .ds_store .vscode .idea id_rsa id_dsa id_ed25519
      wp-config.php web.config .yaml .yml .ini .bak .old global. machine. composer.lock .log _log`),
    pattern:
      /(?:^|[\\/])(?:\.(?:git|svn|hg|bzr|aws|ssh|docker|kube|env|htpasswd|htaccess|npmrc|pgpass|netrc|bash_history|mysql_history|DS_Store|vscode|idea)(?:[\\/]\w{1,32}|\.\w{1,16}|$)|id_(?:rsa|dsa|ed25519)(?:$|\.)|wp-config\.php|web\.config(?:$|[\0?.])|(?:config|database|settings|credentials|secrets?)\.(?:ya?ml|ini|bak|php\.bak|old|xml\.bak)$|(?:global|machine)\.(?:asax?|config)$|composer\.lock$|(?:error|access|debug)[._]logs?$)/gi,
    examples: {
      attacks: ['/.git/config', '/.env', '/wp-config.php', '/backup/config.bak'],
      benign: ['/environment', '/id_card.png', 'mygit/config', '/docs/git'],
    },
  },
  {
    id: 198_306,
    name: 'stream-wrapper',
    proves: 'opens a stream of PHP or Java instead of a file',
    source: php,
    strong: true,
    confirmedBy: [930, 931, 933],
    needs: SEEN.colon,
    literals:
      words(`unix: php: expect: phar: zlib: bzip2: ssh2. ogg: glob: rar: zip: netdoc: jar: gopher: dict:
      ldap rmi: tftp: sftp: cifs: data: file: classpath`),
    pattern:
      /\bunix:[^|\s]{0,8192}\|[a-z]{2,8}:|\b(?:php:\/\/(?:filter|input|memory|temp|fd|stdin|output)|(?:expect|phar|compress\.(?:zlib|bzip2)|ssh2\.\w{2,8}|ogg|glob|rar|zip|zlib|netdoc|jar:(?:https?|file|ftp)|gopher|dict|ldaps?|ldapi|rmi|tftp|sftp|cifs):(?!\/{2}\.{3}[^\w./\\%-])\/\/?(?=[\w./\\%-])|(?<!x-apple-)data:\/\/|file:\/\/{1,3}(?:[a-z]:[\\/]{1,2}(?:win|boot|inetpub|xampp)|localhost|etc|proc|var|root|windows|(?:home|usr|opt|tmp|[a-z]:)(?=[^\s]{0,400}$))|file:\/{4,16}[\w.-]|file:\/(?:[a-z]:[\\/]|etc\/|proc\/|root\/)|^classpath\*?:[\w./*-]{1,100}\.(?:properties|ya?ml|xml|json)$)/gi,
    counts: isNoArgument,
    examples: {
      attacks: [
        'php://filter/read=convert.base64-encode/resource=index.php',
        'expect://id',
        'phar://a.jpg/x',
        'gopher://127.0.0.1:6379/_x',
        'unix:AAAA|http://x/',
        'file:///etc/motd',
        'file:/c:/boot.ini',
        "copy('php://input', 'x.php')",
      ],
      benign: [
        'file:///tmp/a.html is what it shows',
        "file_get_contents('php://input') returns an empty string",
        'https://php.net/manual',
        'a zip: /files',
        '<a href="x-apple-data-detectors://1"> or x-apple-data://1 of a mail',
        ...['data:image/png;base64,AAAA', 'gopher://... is old'],
      ],
    },
  },
  {
    id: 198_307,
    name: 'null-byte',
    proves: 'ends a name early by a NUL byte',
    source: 'POSIX.1-2017, 3.271 Pathname',
    strong: false,
    confirmedBy: [920, 930],
    needs: SEEN.control,
    literals: ['\0'],
    pattern: /[\w.\\/]\0(?:$|[\w.\\/])/g,
    examples: { attacks: ['a.php\0.jpg', '/etc/x\0'], benign: ['abc', '\x01\x02'] },
  },
  {
    id: 198_308,
    name: 'path-encoded-dots',
    proves: 'hides the dots or slashes of a path',
    source: 'RFC 3986, section 2.1; Unicode 16, section 3.9',
    strong: true,
    confirmedBy: [930],
    needs: 0,
    literals: words('0x2e0x2e0x %25 %c0 %c1 %e0 %f0 %f8 %fc %u %bg %%'),
    pattern:
      /(?:%(?:25){1,4}(?:2e|c0%(?:25)?ae)|%c0%(?:ae|2e)|%e0%80%ae|%u(?:002e|ff0e|2024)|%2e|\.){2}(?:%(?:25){1,4}(?:2f|5c|c0%(?:25)?af)|%c0%(?:af|2f|5c|9v|qf)|%c1%(?:9c|1c|8s|pc|af)|%e0%80%(?:af|9c)|%f[08c]%80%80%80?(?:%80){0,2}%af|%u(?:002f|005c|2215|2216|ff0f)|%bg%qf|%uEFC8|%uF025|%%32%66|%%35%63)|0x2e0x2e0x(?:2f|5c)/gi,
    examples: {
      attacks: ['..%c0%af', '%252e%252e%252f', '..%u2215x', '..%255cx', '/0x2e0x2e0x2fx'],
      benign: ['a%2eb', '100%25', '..%20ok'],
    },
  },
  {
    id: 198_312,
    name: 'secret-file',
    proves: 'is the path of a file with keys or settings that no page links to',
    source: `${filesystem}; "File Streams"; Jakarta Servlet 6, section 10.5`,
    strong: true,
    confirmedBy: [930],
    needs: 0,
    literals: words(
      ':$ \\\\? \\\\. $/ $\\ @ssl @0 @1 @2 @3 @4 @5 @6 @7 @8 @9 .ssh .aws .docker .kube ~ secrets app_data .dll .env web.config -inf .ini ntuser $recycle pagefile',
    ),
    pattern:
      /^(?:[\w.~\\/ -]{0,160}(?:::\$(?:data|index_allocation)|:\$i30:)|\\\\[?.]\\(?!pipe\\)[\w{]|[\\/]{2,3}[\w.:[\]-]{1,64}[\\/](?:[a-z]|admin)\$[\\/]|\\\\[\w.-]{1,64}@(?:ssl|\d{2,5})[@\\]|(?:[a-z]:|~\w{1,16})?[\\/](?:[\w.-]{1,48}[\\/]){0,8}\.(?:ssh[\\/](?:id_\w{2,10}|authorized_keys|known_hosts|config)|aws[\\/](?:credentials|config)|docker[\\/]config\.json|kube[\\/]config)$|~root[\\/]|[\\/](?:var[\\/])?run[\\/]secrets[\\/]|(?:~|\.\.)?[\\/](?:[\w.-]{1,48}[\\/]){0,8}app_data[\\/][\w.-]{1,64}$|(?:~|\.\.)[\\/]bin[\\/][\w.-]{1,64}\.dll$|[\\/](?:[\w.-]{1,48}[\\/]){1,8}\.env(?:\.\w{1,16})?$|(?:~|\.\.)?[\\/](?:[\w.-]{1,48}[\\/]){0,8}web\.config(?:%20|[\s.])?$|[\w.;\\/-]{0,64}(?:web|meta)-inf[.;\s]{1,8}[\\/]|[a-z]:[\\/](?:[\w ().-]{1,48}[\\/]){0,8}(?:(?:my|php|win|boot|system)\.ini|ntuser\.dat|pagefile\.sys)$|[a-z]:[\\/]\$recycle\.bin|[\\/](?:[\w.-]{1,48}[\\/]){0,8}[\w*]{2,6}~\d(?:\.[\w*]{1,3})?(?:[\\/]|$))/gi,
    counts: isNoCodePage,
    examples: {
      attacks: [
        ...[
          'web.config::$DATA',
          '/a:$i30:$INDEX_ALLOCATION/',
          '\\\\?\\C:\\a',
          '//h/c$/a',
          '\\\\::1\\c$\\a',
        ],
        ...['\\\\evil.example@80\\dav\\x', '/home/a/.ssh/id_rsa', '~root/.bashrc', '/opt/a/.env'],
        ...[
          '/run/secrets/db',
          '/App_Data/a.mdf',
          '../bin/a.dll',
          '/WEB-INF./web.xml',
          '/web~1.con',
        ],
        ...['C:\\Program Files\\MySQL\\my.ini', 'C:\\Users\\a\\NTUSER.DAT', '~/web.config'],
      ],
      benign: [
        ...['~/.ssh/id_rsa', 'put it into /opt/a/.env', 'web.config', '\\\\files\\public\\a.txt'],
        ...['C:\\Users\\a\\notes.txt', '~anna/', 'a@80', 'the ~1 of it', '/a/b.env.md', '.env'],
        ...['/anna/app/src/branch/main/.env', '/repo/plain/.env'],
      ],
    },
  },
  {
    id: 198_315,
    name: 'requested-secret',
    proves: 'asks for a file with keys, passwords or history that no page links to',
    source: `${filesystem}; git 2.39, gitrepository-layout(5)`,
    strong: true,
    confirmedBy: [930],
    variables: 'REQUEST_FILENAME',
    needs: 0,
    literals: words(
      `/.git /.svn /.hg /.env /.htpasswd /.aws /.ssh /.docker /.kube /.npmrc /.pypirc /.netrc /.pgpass
      /.my.cnf /.s3cfg _history /.vscode /.idea /.ftpconfig /.wp-config /wp-config. /id_ sftp`,
    ),
    pattern:
      /^\/(?:\.?\/){0,4}(?!(?:remote\.php|(?:web)?dav)\/)(?:[\w.~-]{1,64}\/(?:\.?\/){0,4}(?:(?!(?:blame|blob|browse|contents|diff|edit|file|log|plain|raw|source|src|tree|view)\/)[\w.~-]{1,64}\/(?:\.?\/){0,4})?)?(?:\.git(?:-credentials|config|\/(?:\.?\/){0,4}(?:(?:FETCH_|ORIG_)?HEAD|COMMIT_EDITMSG|config|index|packed-refs|(?:logs|objects|refs)(?:\/[\w./-]{0,200})?))|\.svn\/(?:\.?\/){0,4}(?:all-wcprops|entries|wc\.db)|\.hg\/(?:\.?\/){0,4}(?:dirstate|hgrc|store(?:\/[\w./-]{0,200})?)|\.env(?:rc|\d|~|[._-]\w{1,24}(?:\.\w{1,8})?)?|\.ht(?:digest|passwd)s?|\.aws\/(?:\.?\/){0,4}(?:config|credentials)|\.ssh\/(?:\.?\/){0,4}[\w.-]{1,64}|\.docker(?:cfg|\/(?:\.?\/){0,4}config\.json)|\.kube\/(?:\.?\/){0,4}config|\.(?:ftpconfig|my\.cnf|netrc|npmrc|pgpass|pypirc|s3cfg)|\.\w{2,10}_history|\.vscode\/(?:\.?\/){0,4}s?ftp\.json|\.idea\/(?:\.?\/){0,4}(?:dataSources|deployment|webServers|workspace)\.xml|\.?wp-config\.(?:php(?:[~_#.]|%23)\w{0,12}|bak|old|txt|zip)|id_(?:dsa|ecdsa|ed25519|rsa)|\.?sftp(?:-config)?\.json)[\s.]{0,4}$/gi,
    examples: {
      attacks: [
        ...['/.git/config', '/app/.git/HEAD', '/.env', '/.env.local', '/.netrc'],
        ...['/wp-config.php.bak', '/.wp-config.php.swp', '/old/wp-config.php~', '/id_rsa'],
        ...['/.vscode/sftp.json', '/.bash_history', '/.svn/wc.db', '/.htpasswd', '/.env_prod'],
        ...['//.env', '/a/./.git//config', '/.env. '],
      ],
      benign: [
        ...['/.well-known/acme-challenge/a', '/anna/app/src/branch/main/.env', '/repo/tree/.env'],
        ...[
          '/app.git/info/refs',
          '/remote.php/webdav/.env',
          '/docs/.git',
          '/environment',
          '/.git/',
        ],
        ...['/wp-config', '/a/.gitignore', '/blog/id_card.png', '/.environment'],
      ],
    },
  },
];

const moduleBefore = /\b(?:module|from|import|resolve|require)[\s(]{1,2}["']$/;

/** Whether a path is no name of a module: `from '../../../types/order'`. */
function isNoModule(text: ByteString, start: number): boolean {
  return !moduleBefore.test(text.slice(Math.max(0, start - 12), start));
}

const referenceBefore = /\s(?:src|href)="$/;

/** Whether a path is no reference of markup either, which begins no name of a file. */
function isNoReference(text: ByteString, start: number): boolean {
  if (!isNoModule(text, start)) return false;
  return !referenceBefore.test(text.slice(Math.max(0, start - 8), start));
}

/** Functions of PHP, in code of which their calls are found. */
const readingCall = /\b(?:file_get_contents|fopen|readfile)\s?\(\s?["']$/;

/** Whether a stream is more than an argument in code: a path does not begin with a call. */
function isNoArgument(text: ByteString, start: number): boolean {
  return !readingCall.test(text.slice(Math.max(0, start - 24), start));
}

/** Files as servers of repositories show them: `/anna/app/src/branch/main/.env`. */
const codePage =
  /^\/[\w.-]{1,100}\/(?:[\w.-]{1,100}\/){0,8}(?:blame|blob|edit|plain|raw|tree|src\/(?:branch|commit|tag))\//;

function isNoCodePage(text: ByteString): boolean {
  return !codePage.test(text.slice(0, 1000));
}

const subject =
  /^(?:(?:web|meta)-inf\/|[a-z]:\\)[\w.\\/-]{1,100} (?:and|is|are|was|has|cannot|can|does|must|should) \w/i;

/**
 * Whether a path is more than what a sentence begins with, of those that are opened as a whole: no
 * shell of Unix, which would open each word, has them.
 */
function isNoSubject(text: ByteString, start: number): boolean {
  return start > 0 || !subject.test(text.slice(0, 160));
}

/** The family of paths. */
export const paths = patternFamily('paths', rows, [...textKinds, 'url']);
