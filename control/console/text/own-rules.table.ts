/**
 * Messages of the rules that the product puts beside a ruleset, its detectors among them, with their
 * Chinese; `{name}` stands for a value. Loaded where the console is shown in Chinese.
 */

/** Chinese texts by the message of the rule. */
export const ownRuleMessages: Readonly<Record<string, string>> = {
  // Rules that the product puts beside a ruleset.
  'Argument too long': '参数过长',
  'Argument name too long (observed)': '参数名过长（仅记录）',
  'Argument too long (observed)': '参数过长（仅记录）',
  'Arguments too long in total': '参数总长度过长',
  'Arguments too long in total (observed)': '参数总长度过长（仅记录）',
  'Too many arguments': '参数过多',
  'Too many arguments (observed)': '参数过多（仅记录）',
  'Uploaded file too large': '上传的文件过大',
  'Files too large': '文件总大小过大',
  'A body that says it is US-ASCII has other bytes': '声明为 US-ASCII 的正文含有其他字节',
  'A header asks for a method that the policy does not allow': '请求头要求使用策略不允许的方法',
  'A limit of inspection was reached': '达到检测上限',
  'A limit of inspection was reached (observed)': '达到检测上限（仅记录）',
  'A multipart part can be read as a field and as a file, or under several names.':
    'multipart 的某一部分既可读作字段也可读作文件，或有多个名称。',
  'Failed to parse request body.': '无法解析请求体。',
  'Internal error flagged: {name}': '内部错误标记：{name}',
  'Media type outside the policy (observed)': '媒体类型不在策略允许范围内（仅记录）',
  'Multipart parser detected a possible unmatched boundary.':
    'multipart 解析器发现可能不匹配的边界。',
  'Multipart request body that backends read differently: {reason}':
    '不同后端会有不同解读的 multipart 请求体：{reason}',
  'Only some servers decode the encoding of this multipart part.':
    '只有部分服务器会解码此 multipart 部分的编码。',
  'SQL injection in a password': '密码中的 SQL 注入',
  'SQL injection in letters of full width': '全角字母中的 SQL 注入',
  'Sampling: the rule set leaves this request out': '抽样：规则集跳过此请求',
  'The request body is larger than the policy allows': '请求体超出策略允许的大小',
  'The request body is larger than the policy allows (observed)':
    '请求体超出策略允许的大小（仅记录）',
  // Detectors: what each proves of a value.
  'adds the rows of another query by `union select`': '用 `union select` 附加另一查询的结果行',
  'begins a second SQL statement after a semicolon': '在分号后开始第二条 SQL 语句',
  'closes a quote and adds a condition': '闭合引号并附加条件',
  'adds a condition that compares constants': '附加比较常量的条件',
  'makes the database wait': '使数据库等待',
  'adds a query in parentheses': '附加括号中的查询',
  'sorts a query by the number of a column, as attacks do to count columns':
    '按列序号排序查询，攻击常以此探测列数',
  'closes a quote and makes the rest a comment': '闭合引号并把其余部分变为注释',
  "names the database's own tables": '引用数据库自身的系统表',
  'calls a function that only attacks need': '调用只有攻击才需要的函数',
  'hides SQL in a comment that MySQL runs': '将 SQL 藏在 MySQL 会执行的注释中',
  'reads or writes files of the database server': '读取或写入数据库服务器的文件',
  'is an SQL statement': '是一条 SQL 语句',
  'adds a condition to what a query compares': '在查询的比较中附加条件',
  'is an SQL expression that chooses by a condition': '是按条件取值的 SQL 表达式',
  'joins quotes by an operator': '用运算符连接引号',
  'breaks out of the quotes that a query has around it with nothing but an operator':
    '仅用运算符便跳出查询中的引号',
  'adds a condition that is always true to a number': '在数字后附加恒真条件',
  "is a query of the database's own tables": '是对数据库系统表的查询',
  'adds a shell command after a separator': '在分隔符后附加 Shell 命令',
  'substitutes the output of a shell command': '替换为 Shell 命令的输出',
  'holds what may be a shell command': '含有疑似 Shell 命令的内容',
  'hides the name of a command by quotes or escapes': '用引号或转义隐藏命令名',
  'writes a blank as `$IFS`': '以 `$IFS` 代替空格',
  'runs a shell or a command from a variable, or changes where a shell looks for programs':
    '从变量运行 Shell 或命令，或改变 Shell 查找程序的位置',
  'is a loop or branch of a shell program': '是 Shell 程序的循环或分支',
  'defines a function in an environment variable': '在环境变量中定义函数',
  'names a command by a pattern with wildcards, which hides it': '用通配符指代命令以隐藏它',
  'connects a shell to the network': '将 Shell 连接到网络',
  'writes a command and its arguments in braces': '用大括号书写命令及其参数',
  'runs a command of Windows': '运行 Windows 命令',
  'redirects what a command reads or writes': '重定向命令的输入或输出',
  'is a command that reads a file of the operating system': '是读取操作系统文件的命令',
  'adds a command of PowerShell after a separator': '在分隔符后附加 PowerShell 命令',
  'is a command that tells what a system, its disk or its network is':
    '是探查系统、磁盘或网络信息的命令',
  'climbs out of a folder by `..` more than once': '用 `..` 不止一次跳出目录',
  'climbs out of a folder by `..` three times or more': '用 `..` 三次或以上跳出目录',
  'is a path that begins with `..`, out of a folder': '是以 `..` 开头、跳出目录的路径',
  'is the path of a file of the operating system': '是操作系统文件的路径',
  'names a file of the operating system': '指向操作系统文件',
  'is the path of a file with secrets or settings': '是含有密钥或配置的文件路径',
  'opens a stream of PHP or Java instead of a file': '打开 PHP 或 Java 流而非文件',
  'ends a name early by a NUL byte': '用空字节提前截断名称',
  'hides the dots or slashes of a path': '隐藏路径中的点或斜杠',
  'climbs out of a folder with `..;`, which only some servers read as `..`':
    '用 `..;` 跳出目录，只有部分服务器将其视为 `..`',
  'climbs out of a folder to a file with settings or data': '跳出目录以访问配置或数据文件',
  'is a requested path with `..` in it, which browsers resolve before they ask':
    '是含有 `..` 的请求路径，浏览器会在请求前自行解析',
  'is the path of a file with keys or settings that no page links to':
    '是没有页面链接的密钥或配置文件路径',
  'is a path that climbs above its root, is padded with dots, slashes or one letter, or lost its slashes':
    '是越出根目录、用点、斜杠或同一字母填充，或丢失了斜杠的路径',
  'asks for a script in a folder that holds what users uploaded':
    '请求存放用户上传内容的文件夹中的脚本',
  'asks for a file with keys, passwords or history that no page links to':
    '请求没有页面会链接到的、含有密钥、密码或历史记录的文件',
  'opens a `<script>` element': '开启 `<script>` 元素',
  'gives a tag an event handler': '为标签添加事件处理器',
  'closes a quoted attribute and adds an event handler': '闭合带引号的属性并添加事件处理器',
  'is or holds a URL that runs script': '是或含有会运行脚本的 URL',
  'holds a `data:` URL of a document that runs script': '含有会运行脚本的文档 `data:` URL',
  'opens an element that loads a document or a program': '开启加载文档或程序的元素',
  'opens an element that loads script by itself': '开启会自行加载脚本的元素',
  'runs script from a style': '从样式中运行脚本',
  'has a server include something': '使服务器执行包含指令（SSI）',
  'closes an element such as `<script>` or `<textarea>` and opens another':
    '闭合 `<script>` 或 `<textarea>` 等元素并开启另一元素',
  'hides a tag in UTF-7': '用 UTF-7 隐藏标签',
  'begins with a `<script>` element, or has one that does what attacks use as a test':
    '以 `<script>` 元素开头，或含有攻击常用的测试脚本',
  'hides script in markup that only some browsers read: data islands, comments in words':
    '将脚本藏在只有部分浏览器解析的标记中：数据岛、词中注释',
  'loads a script from another host': '从其他主机加载脚本',
  'closes a quote in a script and calls a function': '闭合脚本中的引号并调用函数',
  'calls a function that script attacks call': '调用脚本攻击常用的函数',
  'reads or sets cookies, address or contents of a page in a script':
    '在脚本中读取或设置 Cookie、页面地址或内容',
  'builds a function from a text': '用文本构造函数',
  'is a script of brackets and signs only': '是仅由括号和符号组成的脚本',
  'runs code of Node.js': '运行 Node.js 代码',
  'runs code of Python or Lua': '运行 Python 或 Lua 代码',
  'breaks out of a script or template and calls a function': '跳出脚本或模板并调用函数',
  'closes a quote in a script and goes to another page or reads cookies':
    '闭合脚本中的引号并跳转到其他页面或读取 Cookie',
  'calls a function that script attacks call by a detour': '以迂回方式调用脚本攻击常用的函数',
  'runs code of ASP that is put together from pieces': '运行由片段拼接而成的 ASP 代码',
  'sends cookies or contents of the page to another host': '将 Cookie 或页面内容发送到其他主机',
  'begins code of PHP, JSP or ASP': '开始一段 PHP、JSP 或 ASP 代码',
  'calls a function of PHP that runs code or commands': '调用可运行代码或命令的 PHP 函数',
  'is a serialized object of PHP': '是 PHP 序列化对象',
  'makes Java look up a name on another server': '使 Java 在其他服务器上查找名称（JNDI）',
  'is an expression of OGNL, SpEL or another language on Java':
    '是 OGNL、SpEL 或其他 Java 表达式语言的表达式',
  'is a serialized object of Java, .NET, Python or Ruby':
    '是 Java、.NET、Python 或 Ruby 序列化对象',
  'names a class that a program would create an object of when it reads the value':
    '指定程序读取该值时会实例化的类',
  'is an expression that a template engine computes': '是模板引擎会计算的表达式',
  'defines an XML entity or reads an external one': '定义 XML 实体或读取外部实体',
  'includes another document in XML or runs a stylesheet': '在 XML 中包含其他文档或运行样式表',
  'sets a property of the prototype of all objects': '设置所有对象原型的属性',
  'puts an operator of MongoDB in place of a user name or password, or runs a script by one':
    '用 MongoDB 操作符代替用户名或密码，或借此运行脚本',
  'closes a quote in a script of MongoDB and adds a condition':
    '闭合 MongoDB 脚本中的引号并附加条件',
  'is a URL of a local or a metadata address': '是本地或元数据地址的 URL',
  'is a URL of an internal host': '是内部主机的 URL',
  'names a host by which security scanners learn that a server called it':
    '指向安全扫描器用来获知服务器回连的主机',
  'names a file on another host and cuts off the ending that a program would add':
    '指向其他主机上的文件，并截掉程序会附加的结尾',
  'is a URL of an internal address in a notation that hides it': '是以隐蔽写法表示的内部地址 URL',
  'ends a line and adds a header field or a request': '换行并附加头字段或请求',
  'has control characters in a user name or password': '用户名或密码中含有控制字符',
  'ends a line and adds a header field that redirects, or further recipients of a mail':
    '换行并附加重定向头字段，或增加邮件收件人',
  'closes an LDAP filter and adds another': '闭合 LDAP 过滤器并附加另一个',
  'closes a quote in a query of XPath': '闭合 XPath 查询中的引号',
  'is the name of a file that servers run': '是服务器会执行的文件名',
  'is the head of a token that nobody signed': '是无人签名的令牌头',
};
