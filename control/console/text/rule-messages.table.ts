/**
 * Messages of the rules of CRS 4 and 3 with their Chinese; `{name}` stands for a value. Loaded where
 * the console is shown in Chinese.
 */

/** Chinese texts by the message of the rule. */
export const ruleMessages: Readonly<Record<string, string>> = {
  // Protocol.
  'Abnormal character escapes in request': '请求中存在异常的字符转义',
  'Accept-Encoding header exceeded sensible length': 'Accept-Encoding 头超出合理长度',
  'Argument name too long': '参数名过长',
  'Argument value too long': '参数值过长',
  'Attempted multipart/form-data bypass': '尝试利用 multipart/form-data 绕过检测',
  'Content-Length HTTP header is not numeric': 'Content-Length 头不是数字',
  'Content-Length and Transfer-Encoding headers present':
    '同时存在 Content-Length 与 Transfer-Encoding 头',
  'Content-Length and Transfer-Encoding headers present.':
    '同时存在 Content-Length 与 Transfer-Encoding 头。',
  'Content-Transfer-Encoding was deprecated by rfc7578 in 2015 and should not be used':
    'Content-Transfer-Encoding 已于 2015 年被 RFC 7578 弃用，不应使用',
  'Content-Type header missing from request with body': '带请求体的请求缺少 Content-Type 头',
  'Content-Type header missing from request with non-zero Content-Length':
    'Content-Length 不为零的请求缺少 Content-Type 头',
  'Request Containing Content Requires Content-Type header': '带内容的请求必须有 Content-Type 头',
  'Request Containing Content, but Missing Content-Type header':
    '请求带有内容，但缺少 Content-Type 头',
  'Content-Type header: Dangerous content type outside the mime type declaration':
    'Content-Type 头：MIME 类型声明之外出现危险的内容类型',
  'Empty Host Header': 'Host 头为空',
  'Empty User Agent Header': 'User-Agent 头为空',
  'GET or HEAD Request with Body Content': 'GET 或 HEAD 请求带有请求体',
  'GET or HEAD Request with Transfer-Encoding': 'GET 或 HEAD 请求带有 Transfer-Encoding',
  'HTTP Header Injection Attack via headers': '通过请求头进行的 HTTP 头注入攻击',
  'HTTP Header Injection Attack via payload (CR/LF and header-name detected)':
    '通过载荷进行的 HTTP 头注入攻击（发现回车换行与头名称）',
  'HTTP Header Injection Attack via payload (CR/LF detected)':
    '通过载荷进行的 HTTP 头注入攻击（发现回车换行）',
  'HTTP Parameter Pollution ({name})': 'HTTP 参数污染（{name}）',
  'HTTP Parameter Pollution after detecting bogus char after parameter array':
    'HTTP 参数污染：参数数组之后存在异常字符',
  'HTTP Parameter Pollution possible via array notation': '可能通过数组写法进行 HTTP 参数污染',
  'HTTP Range Header detected': '发现 Range 头',
  'HTTP Request Smuggling Attack': 'HTTP 请求走私攻击',
  'HTTP Response Splitting Attack': 'HTTP 响应拆分攻击',
  'HTTP Splitting (CR/LF in request filename detected)': 'HTTP 拆分（请求文件名中发现回车换行）',
  'HTTP header is restricted by policy ({name})': '策略限制该 HTTP 头（{name}）',
  'HTTP method override attempt via _method parameter': '尝试通过 _method 参数覆盖 HTTP 方法',
  'HTTP protocol version is not allowed by policy': '策略不允许该 HTTP 协议版本',
  'Host header is a numeric IP address': 'Host 头是 IP 地址',
  'Illegal Accept header: charset parameter': 'Accept 头不合法：字符集参数',
  'Illegal Accept-Encoding header': 'Accept-Encoding 头不合法',
  'Illegal Content-Type header': 'Content-Type 头不合法',
  'Illegal MIME Multipart Header content-type: charset parameter':
    'MIME multipart 头 Content-Type 不合法：字符集参数',
  'Invalid Cache-Control request header': 'Cache-Control 请求头无效',
  'Invalid HTTP Request Line': 'HTTP 请求行无效',
  'Invalid character in request (non printable characters)': '请求中有无效字符（不可打印字符）',
  'Invalid character in request (null character)': '请求中有无效字符（空字符）',
  'Invalid character in request (outside of printable chars below ascii 127)':
    '请求中有无效字符（ASCII 127 以下可打印字符之外）',
  'Invalid character in request (outside of very strict set)':
    '请求中有无效字符（超出最严格字符集）',
  'Invalid character in request headers (outside of very strict set)':
    '请求头中有无效字符（超出最严格字符集）',
  'Method is not allowed by policy': '策略不允许该请求方法',
  'Missing User Agent Header': '缺少 User-Agent 头',
  'Multipart content type global _charset_ definition is not allowed by policy':
    '策略不允许在 multipart 内容中全局定义 _charset_',
  'Multipart header contains characters outside of valid range':
    'multipart 头包含有效范围之外的字符',
  'Multiple Content-Type Request Headers': '存在多个 Content-Type 请求头',
  'Multiple URL Encoding Detected': '发现多重 URL 编码',
  'Multiple charsets detected in content type header': 'Content-Type 头中发现多个字符集',
  'Multiple/Conflicting Connection Header Data Found': 'Connection 头的数据重复或冲突',
  'Obsolete Request-Range header detected': '发现已废弃的 Request-Range 头',
  'Old Cookies V1 usage attempt detected': '发现使用旧版 V1 Cookie 的尝试',
  'POST without Content-Length and Transfer-Encoding headers':
    'POST 请求缺少 Content-Length 与 Transfer-Encoding 头',
  'POST without Content-Length or Transfer-Encoding headers':
    'POST 请求缺少 Content-Length 或 Transfer-Encoding 头',
  'Possible Unicode character bypass detected': '疑似利用 Unicode 字符绕过检测',
  'Range: Invalid Last Byte Value': 'Range：末字节值无效',
  'Range: Too many fields (6 or more)': 'Range：区间过多（6 个或以上）',
  'Range: Too many fields for pdf request ({count} or more)':
    'Range：PDF 请求的区间过多（{count} 个或以上）',
  'Raw (unencoded) fragment in request URI': '请求 URI 中有未编码的片段标识',
  'Request Has an Empty Accept Header': '请求的 Accept 头为空',
  'Request Missing a Host Header': '请求缺少 Host 头',
  'Request Missing an Accept Header': '请求缺少 Accept 头',
  'Request content type charset is not allowed by policy': '策略不允许该请求内容的字符集',
  'Request content type is not allowed by policy': '策略不允许该请求的内容类型',
  "Request header x-up-devcap-post-charset detected in combination with prefix 'UP' to User-Agent":
    '发现请求头 x-up-devcap-post-charset，且 User-Agent 以“UP”开头',
  'Too many arguments in request': '请求参数过多',
  'Total arguments size exceeded': '参数总长度超限',
  'Total uploaded files size too large': '上传文件的总大小过大',
  'URL Encoding Abuse Attack Attempt': '滥用 URL 编码的攻击尝试',
  'URL file extension is restricted by policy': '策略限制该 URL 的文件扩展名',
  'UTF8 Encoding Abuse Attack Attempt': '滥用 UTF-8 编码的攻击尝试',
  'Unicode Full/Half Width Abuse Attack Attempt': '滥用 Unicode 全角/半角字符的攻击尝试',
  'Uploaded file size too large': '上传的文件过大',
  'mod_proxy attack attempt detected': '发现针对 mod_proxy 的攻击尝试',
  // Scanners, clients, and denial of service.
  'Found User-Agent associated with security scanner': 'User-Agent 属于安全扫描器',
  'Found User-Agent associated with scripting/generic HTTP client':
    'User-Agent 属于脚本或通用 HTTP 客户端',
  'Found User-Agent associated with web crawler/bot': 'User-Agent 属于网络爬虫或机器人',
  'Found request filename/argument associated with security scanner':
    '请求的文件名或参数属于安全扫描器',
  'Found request header associated with security scanner': '请求头属于安全扫描器',
  'Client IP in Trustwave SpiderLabs IP Reputation Blacklist':
    '客户端 IP 在 Trustwave SpiderLabs 信誉黑名单中',
  'Client IP is from a HIGH Risk Country Location': '客户端 IP 来自高风险国家/地区',
  'HTTP Blacklist match for harvester IP': 'HTTP 黑名单命中：邮箱采集者 IP',
  'HTTP Blacklist match for search engine IP': 'HTTP 黑名单命中：搜索引擎 IP',
  'HTTP Blacklist match for spammer IP': 'HTTP 黑名单命中：垃圾信息发送者 IP',
  'HTTP Blacklist match for suspicious IP': 'HTTP 黑名单命中：可疑 IP',
  'Request Denied by IP Reputation Enforcement': '请求因 IP 信誉被拒绝',
  'Request from Known Malicious Client (Based on previous traffic violations)':
    '请求来自已知的恶意客户端（依据此前的违规流量）',
  'Denial of Service (DoS) attack identified from {client} ({hits} hits since last alert)':
    '发现来自 {client} 的拒绝服务（DoS）攻击（自上次告警以来 {hits} 次）',
  'Potential Denial of Service (DoS) Attack from {client} - # of Request Bursts: {count}':
    '疑似来自 {client} 的拒绝服务（DoS）攻击，请求突发次数：{count}',
  // Files and paths.
  'Attempt to access a backup or working file': '尝试访问备份文件或工作文件',
  'OS File Access Attempt': '尝试访问操作系统文件',
  'OS File Access Attempt in REQUEST_HEADERS': '在请求头中尝试访问操作系统文件',
  'Path Traversal Attack (/../)': '路径遍历攻击（/../）',
  'Path Traversal Attack (/../) or (/.../)': '路径遍历攻击（/../ 或 /.../）',
  'Possible Remote File Inclusion (RFI) Attack': '疑似远程文件包含（RFI）攻击',
  'Possible Remote File Inclusion (RFI) Attack: Common RFI Vulnerable Parameter Name used w/URL Payload':
    '疑似远程文件包含（RFI）攻击：常见易受攻击的参数名携带 URL 载荷',
  'Possible Remote File Inclusion (RFI) Attack: Off-Domain Reference/Link':
    '疑似远程文件包含（RFI）攻击：指向外部域名的引用或链接',
  'Possible Remote File Inclusion (RFI) Attack: URL Parameter using IP Address':
    '疑似远程文件包含（RFI）攻击：URL 参数使用 IP 地址',
  'Possible Remote File Inclusion (RFI) Attack: URL Payload Used w/Trailing Question Mark Character (?)':
    '疑似远程文件包含（RFI）攻击：URL 载荷以问号（?）结尾',
  'Restricted File Access Attempt': '尝试访问受限文件',
  'Restricted File Access Attempt: AI Coding Assistant Artifact':
    '尝试访问受限文件：AI 编程助手的文件',
  'Restricted File Upload Attempt': '尝试上传受限文件',
  'Possible Server Side Request Forgery (SSRF) Attack: Cloud provider metadata URL in Parameter':
    '疑似服务器端请求伪造（SSRF）攻击：参数中有云厂商元数据 URL',
  'Possible Server Side Request Forgery (SSRF) Attack: Scheme-less localhost or internal hostname detected':
    '疑似服务器端请求伪造（SSRF）攻击：发现不带协议的 localhost 或内部主机名',
  'Possible Server Side Request Forgery (SSRF) Attack: URL Parameter using IP Address':
    '疑似服务器端请求伪造（SSRF）攻击：URL 参数使用 IP 地址',
  // Commands.
  'RCE Bypass Technique': '远程命令执行（RCE）绕过手法',
  'Potential Remote Command Execution: Log4j / Log4shell': '疑似远程命令执行：Log4j / Log4Shell',
  'Remote Command Execution: Brace Expansion Found': '远程命令执行：发现大括号展开',
  'Remote Command Execution: Direct Unix Command Execution': '远程命令执行：直接执行 Unix 命令',
  'Remote Command Execution: Direct Unix Command Execution (No Arguments)':
    '远程命令执行：直接执行 Unix 命令（无参数）',
  'Remote Command Execution: IMAP Command Execution': '远程命令执行：执行 IMAP 命令',
  'Remote Command Execution: POP3 Command Execution': '远程命令执行：执行 POP3 命令',
  'Remote Command Execution: SMTP Command Execution': '远程命令执行：执行 SMTP 命令',
  'Remote Command Execution: Java process spawn (CVE-2017-9805)':
    '远程命令执行：Java 启动进程（CVE-2017-9805）',
  'Remote Command Execution: Java serialization (CVE-2015-4852)':
    '远程命令执行：Java 序列化（CVE-2015-4852）',
  'Remote Command Execution: Malicious class-loading payload': '远程命令执行：恶意类加载载荷',
  'Remote Command Execution: Quote evasion Found': '远程命令执行：发现利用引号的规避手法',
  'Remote Command Execution: SQLite System Command Execution':
    '远程命令执行：通过 SQLite 执行系统命令',
  'Remote Command Execution: Shell Fork Bomb': '远程命令执行：Shell Fork 炸弹',
  'Remote Command Execution: Shellshock (CVE-2014-6271)':
    '远程命令执行：Shellshock（CVE-2014-6271）',
  'Remote Command Execution: Suspicious Java class detected': '远程命令执行：发现可疑的 Java 类',
  'Remote Command Execution: Suspicious Java method detected': '远程命令执行：发现可疑的 Java 方法',
  'Remote Command Execution: Unix Command Injection': '远程命令执行：Unix 命令注入',
  'Remote Command Execution: Unix Command Injection (2-3 chars)':
    '远程命令执行：Unix 命令注入（2 至 3 个字符）',
  'Remote Command Execution: Unix Command Injection (command without evasion)':
    '远程命令执行：Unix 命令注入（未使用规避手法的命令）',
  'Remote Command Execution: Unix Command Injection evasion attempt detected':
    '远程命令执行：发现 Unix 命令注入的规避尝试',
  'Remote Command Execution: Unix Command Injection found in user-agent or referer header':
    '远程命令执行：在 User-Agent 或 Referer 头中发现 Unix 命令注入',
  'Remote Command Execution: Unix Command Injection with pipe':
    '远程命令执行：利用管道的 Unix 命令注入',
  'Remote Command Execution: Unix Shell Code Found': '远程命令执行：发现 Unix Shell 代码',
  'Remote Command Execution: Unix Shell Code Found in REQUEST_HEADERS':
    '远程命令执行：在请求头中发现 Unix Shell 代码',
  'Remote Command Execution: Unix Shell Expression Found': '远程命令执行：发现 Unix Shell 表达式',
  'Remote Command Execution: Unix shell alias invocation': '远程命令执行：调用 Unix Shell 别名',
  'Remote Command Execution: Unix shell history invocation':
    '远程命令执行：调用 Unix Shell 历史命令',
  'Remote Command Execution: Wildcard bypass technique attempt': '远程命令执行：尝试利用通配符绕过',
  'Remote Command Execution: Windows Command Injection': '远程命令执行：Windows 命令注入',
  'Remote Command Execution: Windows FOR/IF Command Found':
    '远程命令执行：发现 Windows FOR/IF 命令',
  'Remote Command Execution: Windows PowerShell Command Found':
    '远程命令执行：发现 Windows PowerShell 命令',
  'Remote Command Execution: Windows Powershell Alias Command Injection':
    '远程命令执行：Windows PowerShell 别名命令注入',
  // PHP, Java, Node.js and other languages.
  'Java Injection Attack: Java Script File Upload Found': 'Java 注入攻击：发现上传 Java 脚本文件',
  'JavaScript Prototype Pollution': 'JavaScript 原型链污染',
  'Magic bytes Detected Base64 Encoded, probable java serialization in use':
    '发现 Base64 编码的特征字节，可能使用了 Java 序列化',
  'Magic bytes Detected, probable java serialization in use':
    '发现特征字节，可能使用了 Java 序列化',
  'Base64 encoded string matched suspicious keyword': 'Base64 编码的字符串命中可疑关键字',
  'Suspicious Java class detected': '发现可疑的 Java 类',
  'Node.js DoS attack': 'Node.js 拒绝服务攻击',
  'Node.js Injection Attack': 'Node.js 注入攻击',
  'Node.js Injection Attack {part}/{parts}': 'Node.js 注入攻击（{part}/{parts}）',
  'ORM Lookup Operator Injection': 'ORM 查询操作符注入',
  'ORM Lookup Operator Injection via Nested Traversal': '通过嵌套遍历进行的 ORM 查询操作符注入',
  'PHP Injection Attack: Configuration Directive Found': 'PHP 注入攻击：发现配置指令',
  'PHP Injection Attack: High-Risk PHP Function Call Found':
    'PHP 注入攻击：发现高风险 PHP 函数调用',
  'PHP Injection Attack: High-Risk PHP Function Name Found': 'PHP 注入攻击：发现高风险 PHP 函数名',
  'PHP Injection Attack: I/O Stream Found': 'PHP 注入攻击：发现输入/输出流',
  'PHP Injection Attack: Low-Value PHP Function Call Found':
    'PHP 注入攻击：发现低风险 PHP 函数调用',
  'PHP Injection Attack: Medium-Risk PHP Function Name Found':
    'PHP 注入攻击：发现中风险 PHP 函数名',
  'PHP Injection Attack: PHP Closing Tag Found': 'PHP 注入攻击：发现 PHP 结束标签',
  'PHP Injection Attack: PHP Open Tag Found': 'PHP 注入攻击：发现 PHP 开始标签',
  'PHP Injection Attack: PHP Script File Upload Found': 'PHP 注入攻击：发现上传 PHP 脚本文件',
  'PHP Injection Attack: PHP Session File Upload Attempt': 'PHP 注入攻击：尝试上传 PHP 会话文件',
  'PHP Injection Attack: Serialized Object Injection': 'PHP 注入攻击：序列化对象注入',
  'PHP Injection Attack: Variable Access Found': 'PHP 注入攻击：发现变量访问',
  'PHP Injection Attack: Variable Function Call Found': 'PHP 注入攻击：发现可变函数调用',
  'PHP Injection Attack: Variables Found': 'PHP 注入攻击：发现变量',
  'PHP Injection Attack: Wrapper scheme detected': 'PHP 注入攻击：发现封装协议',
  'PHP data scheme attack': 'PHP data 协议攻击',
  'Perl Injection Attack': 'Perl 注入攻击',
  'Ruby Injection Attack': 'Ruby 注入攻击',
  'LDAP Injection Attack': 'LDAP 注入攻击',
  'SSTI Attack': '服务器端模板注入（SSTI）攻击',
  'Server-Side Template Injection (SSTI) Attack': '服务器端模板注入（SSTI）攻击',
  // Scripts in pages.
  'AngularJS client side template injection detected': '发现 AngularJS 客户端模板注入',
  'IE XSS Filters - Attack Detected': 'IE 跨站脚本过滤器：发现攻击',
  'JSFuck / Hieroglyphy obfuscation detected': '发现 JSFuck / Hieroglyphy 混淆',
  'JavaScript global variable found': '发现 JavaScript 全局变量',
  'Javascript Word Detected': '发现 JavaScript 关键字',
  'Javascript method detected': '发现 JavaScript 方法',
  'NoScript XSS InjectionChecker: Attribute Injection': 'NoScript 跨站脚本检查：属性注入',
  'NoScript XSS InjectionChecker: HTML Injection': 'NoScript 跨站脚本检查：HTML 注入',
  'Node-Validator Blacklist Keywords': 'Node-Validator 黑名单关键字',
  'Node-Validator Deny List Keywords': 'Node-Validator 拒绝列表关键字',
  'Possible XSS Attack Detected - HTML Tag Handler': '疑似跨站脚本攻击：HTML 标签处理器',
  'US-ASCII Malformed Encoding XSS Filter - Attack Detected':
    'US-ASCII 畸形编码跨站脚本过滤器：发现攻击',
  'UTF-7 Encoding IE XSS - Attack Detected': 'UTF-7 编码的 IE 跨站脚本：发现攻击',
  'XSS Attack Detected via libinjection': 'libinjection 发现跨站脚本攻击',
  'XSS Filter - Category 1: Script Tag Vector': '跨站脚本过滤器，类别 1：脚本标签',
  'XSS Filter - Category 2: Event Handler Vector': '跨站脚本过滤器，类别 2：事件处理器',
  'XSS Filter - Category 3: Attribute Vector': '跨站脚本过滤器，类别 3：属性',
  'XSS Filter - Category 4: Javascript URI Vector': '跨站脚本过滤器，类别 4：JavaScript URI',
  'XSS Filter - Category 5: Disallowed HTML Attributes':
    '跨站脚本过滤器，类别 5：不允许的 HTML 属性',
  'XSS JavaScript function without parentheses': '跨站脚本：不带括号的 JavaScript 函数调用',
  // Databases.
  'Detects HAVING injections': '检测 HAVING 注入',
  'Detects MATCH AGAINST, MERGE and EXECUTE IMMEDIATE injections':
    '检测 MATCH AGAINST、MERGE 与 EXECUTE IMMEDIATE 注入',
  'Detects MSSQL code execution and information gathering attempts':
    '检测 MSSQL 代码执行与信息收集尝试',
  'Detects MySQL UDF injection and other data/structure manipulation attempts':
    '检测 MySQL UDF 注入及其他篡改数据或结构的尝试',
  'Detects MySQL and PostgreSQL stored procedure/function injections':
    '检测 MySQL 与 PostgreSQL 存储过程/函数注入',
  'Detects MySQL charset switch and MSSQL DoS attempts':
    '检测 MySQL 字符集切换与 MSSQL 拒绝服务尝试',
  'Detects MySQL comment-/space-obfuscated injections and backtick termination':
    '检测利用注释或空格混淆的 MySQL 注入及反引号终止',
  'Detects MySQL comments, conditions and ch(a)r injections': '检测 MySQL 注释、条件与 ch(a)r 注入',
  'Detects Postgres pg_sleep injection, waitfor delay attacks and database shutdown attempts':
    '检测 Postgres pg_sleep 注入、waitfor delay 攻击与关闭数据库的尝试',
  'Detects SQL benchmark and sleep injection attempts including conditional queries':
    '检测 SQL benchmark 与 sleep 注入尝试，包括条件查询',
  'Detects basic SQL authentication bypass attempts {part}/{parts}':
    '检测基本的 SQL 认证绕过尝试（{part}/{parts}）',
  'Detects basic SQL injection based on keyword alter or union':
    '检测基于关键字 alter 或 union 的基本 SQL 注入',
  'Detects blind sqli tests using sleep() or benchmark()':
    '检测使用 sleep() 或 benchmark() 的 SQL 盲注',
  'Detects chained SQL injection attempts {part}/{parts}':
    '检测链式 SQL 注入尝试（{part}/{parts}）',
  'Detects classic SQL injection probings {part}/{parts}':
    '检测经典的 SQL 注入探测（{part}/{parts}）',
  'Detects concatenated basic SQL injection and SQLLFI attempts':
    '检测拼接的基本 SQL 注入与 SQLLFI 尝试',
  'Detects conditional SQL injection attempts': '检测条件式 SQL 注入尝试',
  'Finds basic MongoDB SQL injection attempts': '发现基本的 MongoDB 注入尝试',
  'JSON-Based SQL Injection': '基于 JSON 的 SQL 注入',
  'Looking for basic sql injection. Common attack string for mysql, oracle and others':
    '检测基本的 SQL 注入：针对 MySQL、Oracle 等的常见攻击字符串',
  'Looking for integer overflow attacks, these are taken from skipfish, except {number} is the "magic number" crash':
    '检测整数溢出攻击（取自 skipfish，{number} 为导致崩溃的“魔数”）',
  'Meta-Character Anomaly Detection Alert - Repetitive Non-Word Characters':
    '元字符异常检测：重复的非单词字符',
  'MySQL Scientific Notation payload detected': '发现 MySQL 科学计数法载荷',
  'MySQL in-line comment detected': '发现 MySQL 行内注释',
  'Restricted SQL Character Anomaly Detection (args): # of special characters exceeded ({count})':
    'SQL 受限字符异常检测（参数）：特殊字符数量超限（{count}）',
  'Restricted SQL Character Anomaly Detection (cookies): # of special characters exceeded ({count})':
    'SQL 受限字符异常检测（Cookie）：特殊字符数量超限（{count}）',
  'SQL Authentication bypass (split query)': 'SQL 认证绕过（拆分查询）',
  'SQL Bin or Hex Encoding Identified': '发现 SQL 二进制或十六进制编码',
  'SQL Hex Encoding Identified': '发现 SQL 十六进制编码',
  'SQL Comment Sequence Detected': '发现 SQL 注释序列',
  'SQL Injection Attack': 'SQL 注入攻击',
  'SQL Injection Attack Detected via libinjection': 'libinjection 发现 SQL 注入攻击',
  'SQL Injection Attack using (X)OR': '使用 (X)OR 的 SQL 注入攻击',
  'SQL Injection Attack: Common DB Names Detected': 'SQL 注入攻击：发现常见数据库名',
  'SQL Injection Attack: Common Injection Testing Detected': 'SQL 注入攻击：发现常见的注入测试',
  'SQL Injection Attack: SQL Boolean-based attack detected': 'SQL 注入攻击：发现基于布尔的攻击',
  'SQL Injection Attack: SQL Operator Detected': 'SQL 注入攻击：发现 SQL 运算符',
  'SQL Injection Attack: SQL Tautology Detected': 'SQL 注入攻击：发现 SQL 恒真式',
  'SQL Injection Attack: SQL function name detected': 'SQL 注入攻击：发现 SQL 函数名',
  'SQLi bypass attempt by ticks detected': '发现利用引号绕过 SQL 注入检测的尝试',
  'SQLi bypass attempt by ticks or backticks detected':
    '发现利用引号或反引号绕过 SQL 注入检测的尝试',
  'SQLi query termination detected': '发现终止 SQL 查询的注入',
  // Sessions.
  'Possible Session Fixation Attack: SessionID Parameter Name with No Referer':
    '疑似会话固定攻击：有会话标识参数名但无 Referer',
  'Possible Session Fixation Attack: SessionID Parameter Name with Off-Domain Referer':
    '疑似会话固定攻击：会话标识参数名伴随外部域名的 Referer',
  'Possible Session Fixation Attack: Setting Cookie Values in HTML':
    '疑似会话固定攻击：在 HTML 中设置 Cookie 值',
  // Answers.
  'ASP.NET exception leakage': 'ASP.NET 异常信息泄露',
  'Application Availability Error': '应用可用性错误',
  'CGI source code leakage': 'CGI 源代码泄露',
  'Directory Listing': '目录列表',
  'Disclosure of IIS install location': '泄露 IIS 安装位置',
  'IIS Information Leakage': 'IIS 信息泄露',
  'Java Errors': 'Java 错误信息',
  'Java Source Code Leakage': 'Java 源代码泄露',
  'PHP Information Leakage': 'PHP 信息泄露',
  'PHP source code leakage': 'PHP 源代码泄露',
  'RUBY Information Leakage': 'Ruby 信息泄露',
  'Ruby source code leakage': 'Ruby 源代码泄露',
  'The Application Returned a 500-Level Status Code': '应用返回了 5xx 状态码',
  '{database} SQL Information Leakage': '{database} 数据库信息泄露',
  // Web shells.
  'ASP Web shell detected': '发现 ASP WebShell 后门',
  'PHP Web shell detected': '发现 PHP WebShell 后门',
  'GRP WebShell': 'GRP WebShell 后门',
  'Unknown web shell': '未知的 WebShell 后门',
  'webadmin.php file manager': 'webadmin.php 文件管理器',
  '{name} web shell': '{name} WebShell 后门',
  // Scores and the ruleset itself.
  'CRS is deployed without configuration! Please copy the crs-setup.conf.example template to crs-setup.conf, and include the crs-setup.conf file in your webserver configuration before including the CRS rules. See the INSTALL file in the CRS directory for detailed instructions':
    'CRS 未经配置即被部署！请将模板 crs-setup.conf.example 复制为 crs-setup.conf，并在包含 CRS 规则之前于 Web 服务器配置中包含它。详见 CRS 目录中的 INSTALL 文件',
  'ModSecurity Core Rule Set is deployed without configuration! Please copy the crs-setup.conf.example template to crs-setup.conf, and include the crs-setup.conf file in your webserver configuration before including the CRS rules. See the INSTALL file in the CRS directory for detailed instructions':
    'ModSecurity 核心规则集未经配置即被部署！请将模板 crs-setup.conf.example 复制为 crs-setup.conf，并在包含 CRS 规则之前于 Web 服务器配置中包含它。详见 CRS 目录中的 INSTALL 文件',
  'Detection paranoia level configured is lower than the paranoia level itself. This is illegal. Blocking request. Aborting':
    '配置的检测偏执级别低于偏执级别本身，不合法。拦截请求并中止',
  'Executing paranoia level configured is lower than the paranoia level itself. This is illegal. Blocking request. Aborting':
    '配置的执行偏执级别低于偏执级别本身，不合法。拦截请求并中止',
  'Enabling body inspection': '启用请求体检测',
  'Enabling forced body inspection for ASCII content': '对 ASCII 内容强制启用请求体检测',
  'Sampling: Disable the rule engine based on sampling_percentage {percentage} and random number {number}':
    '抽样：按抽样比例 {percentage} 与随机数 {number} 停用规则引擎',
  'Inbound Anomaly Score Exceeded (Total Score: {score})': '入站异常分数超限（总分：{score}）',
  'Inbound Anomaly Score Exceeded in phase 1 (Total Score: {score})':
    '阶段 1 入站异常分数超限（总分：{score}）',
  'Outbound Anomaly Score Exceeded (Total Score: {score})': '出站异常分数超限（总分：{score}）',
  'Outbound Anomaly Score Exceeded in phase 3 (Total Score: {score})':
    '阶段 3 出站异常分数超限（总分：{score}）',
  'Inbound Anomaly Score (Total Inbound Score: {score} - {parts}): individual paranoia level scores: {levels}':
    '入站异常分数（入站总分：{score}，{parts}）：各偏执级别分数：{levels}',
  'Inbound Anomaly Score Exceeded (Total Inbound Score: {score} - {parts}): individual paranoia level scores: {levels}':
    '入站异常分数超限（入站总分：{score}，{parts}）：各偏执级别分数：{levels}',
  'Outbound Anomaly Score (Total Outbound Score: {score}): individual paranoia level scores: {levels}':
    '出站异常分数（出站总分：{score}）：各偏执级别分数：{levels}',
  'Outbound Anomaly Score Exceeded (score {score}): individual paranoia level scores: {levels}':
    '出站异常分数超限（分数 {score}）：各偏执级别分数：{levels}',
  'Correlated Attack Attempt Identified: (Total Score: {score}) Inbound Attack (Inbound Anomaly Score: {inbound}) + Outbound Application Error (Outbound Anomaly Score: {outbound})':
    '识别出关联的攻击尝试（总分：{score}）：入站攻击（入站异常分数：{inbound}）+ 出站应用错误（出站异常分数：{outbound}）',
  'Correlated Successful Attack Identified: (Total Score: {score}) Inbound Attack (Inbound Anomaly Score: {inbound}) + Outbound Data Leakage (Outbound Anomaly Score: {outbound})':
    '识别出关联的成功攻击（总分：{score}）：入站攻击（入站异常分数：{inbound}）+ 出站数据泄露（出站异常分数：{outbound}）',
  'Anomaly Scores: (Inbound Scores: {inbound}) - (Outbound Scores: {outbound}) - ({kinds})':
    '异常分数（入站：{inbound}）-（出站：{outbound}）-（{kinds}）',
};
