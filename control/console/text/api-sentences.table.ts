/**
 * Sentences of the API about detection, policies, roles and API documents, with their Chinese;
 * `{name}` stands for a value. Loaded where the console is shown in Chinese.
 */

/** Chinese texts by the sentence of the API. */
export const apiSentences: Readonly<Record<string, string>> = {
  // The score of detection.
  'Score {score} of 100 ({saidLevel}): {saidWhat} in {place}':
    '评分 {score}/100（{saidLevel}）：{place} 中，{saidWhat}',
  block: '拦截',
  challenge: '质询',
  watch: '关注',
  'below watch': '低于关注',
  'rules of the ruleset match': '规则集的规则命中',
  // What multipart bodies have that servers read in different ways.
  'a line ends in LF alone': '有一行仅以 LF 结尾',
  'a folded line of a part begins with odd blanks': '某部分的折行以异常空白开头',
  'it has more files than are taken': '文件数超过可接受的上限',
  'where its parts begin, or what they are': '各部分从何处开始，或各是什么',
  // How far a policy inspects bodies.
  'Request bodies: the first {limit} bytes are inspected; longer ones get 413. Uploads of files may have {upload} bytes.':
    '请求体：检测前 {limit} 字节；更长的返回 413。上传的文件可达 {upload} 字节。',
  'Request bodies: the first {limit} bytes are inspected; the rest is forwarded uninspected.':
    '请求体：检测前 {limit} 字节；其余不经检测直接转发。',
  'Request bodies: the first {limit} bytes are inspected; what is found after them still blocks, to the end of the longest body.':
    '请求体：前 {limit} 字节完整检测；其后的发现仍会拦截，直至最长请求体的末尾。',
  'Request bodies: the first {limit} bytes are inspected; what is found after them is recorded, not blocked, to the end of the longest body.':
    '请求体：前 {limit} 字节完整检测；其后的发现只记录不拦截，直至最长请求体的末尾。',
  'Request bodies: the first {limit} bytes are inspected; what is found after them still blocks, up to byte {end}; the rest is forwarded uninspected.':
    '请求体：前 {limit} 字节完整检测；其后至第 {end} 字节的发现仍会拦截；其余不经检测直接转发。',
  'Request bodies: the first {limit} bytes are inspected; what is found after them is recorded, not blocked, up to byte {end}; the rest is forwarded uninspected.':
    '请求体：前 {limit} 字节完整检测；其后至第 {end} 字节的发现只记录不拦截；其余不经检测直接转发。',
  // Templates of policies and rules.
  'Blocks what the score of detection finds to be an attack; long arguments, large bodies and unusual media types are only recorded, unusual requests pass':
    '拦截检测评分判定为攻击的请求；过长参数、过大请求体和少见的媒体类型只记录，不寻常的请求放行',
  'Blocks attacks and requests outside usual limits; inspects text responses':
    '拦截攻击和超出常规限制的请求；检测文本响应',
  'Paranoia level 2, early blocking and the limits that the CRS suggests':
    '偏执级别 2、提前拦截以及 CRS 建议的限制',
  'Refuses every request whose path begins with the given text': '拒绝路径以指定文本开头的所有请求',
  'Refuses requests whose user agent contains the given text': '拒绝 User-Agent 包含指定文本的请求',
  'Refuses a path to every address outside the given networks': '拒绝指定网段之外的地址访问某路径',
  'Records requests whose argument matches a pattern': '记录参数匹配某模式的请求',
  'Keeps the rules quiet where {name} works as it should': '{name} 正常工作时避免规则误报',
  'Keeps the rules quiet where {name} works as it should; in no ruleset: import its release':
    '{name} 正常工作时避免规则误报；规则集未附带，请导入其发布包',
  // Roles and permissions.
  'May do everything': '可执行所有操作',
  'May see everything and change nothing': '可查看所有内容，不能更改',
  'Tunes protection; no raw SecLang, alert channels, identity or platform':
    '调整防护；不含 SecLang 原文、告警通道、身份与平台',
  'See sites': '查看站点',
  'Create and change sites': '创建和修改站点',
  'Remove sites': '删除站点',
  'See what the data plane would be given': '查看将下发给数据面的内容',
  'See upstream pools': '查看源站池',
  'Create and change upstream pools': '创建和修改源站池',
  'Remove upstream pools': '删除源站池',
  'See policies, rules and lists': '查看策略、规则和列表',
  'Create and change policies': '创建和修改策略',
  'Remove policies': '删除策略',
  'Render policies': '生成策略文本',
  'Run requests against policies': '用请求测试策略',
  'Move policies to another ruleset': '将策略切换到其他规则集',
  'Override single rules': '覆盖单条规则',
  'Create and change custom rules': '创建和修改自定义规则',
  'Write custom rules as SecLang': '以 SecLang 编写自定义规则',
  'Create and change IP lists': '创建和修改 IP 列表',
  'Change where IP lists are fetched': '修改 IP 列表的获取来源',
  'Fetch IP lists': '获取 IP 列表',
  'Create and change country rules': '创建和修改国家/地区规则',
  'See certificates': '查看证书',
  'Upload certificates and change DNS accounts': '上传证书和修改 DNS 账户',
  'Issue and renew certificates': '签发和续期证书',
  'Export certificates and sites': '导出证书和站点',
  'Remove certificates': '删除证书',
  'See nodes': '查看节点',
  'Change nodes': '修改节点',
  'Remove nodes': '删除节点',
  'Enroll nodes': '注册节点',
  'See node groups': '查看节点组',
  'Create and change node groups': '创建和修改节点组',
  'Remove node groups': '删除节点组',
  'See events and evidence': '查看事件和证据',
  'Export events': '导出事件',
  'See telemetry': '查看遥测数据',
  'Change the API catalog': '修改 API 目录',
  'Enforce controls of the API catalog': '强制执行 API 目录的控制',
  'See alerts': '查看告警',
  'Acknowledge alerts': '确认告警',
  'Resolve alerts': '解决告警',
  'Change alert rules, channels and silences': '修改告警规则、通道和静默',
  'See suggestions': '查看建议',
  'Draft and reject suggestions': '起草和拒绝建议',
  'Carry suggestions out': '执行建议',
  'See the audit log': '查看审计日志',
  'Verify the audit log': '校验审计日志',
  'See users': '查看用户',
  'Create and change users': '创建和修改用户',
  'Remove users': '删除用户',
  'See roles': '查看角色',
  'Create and change roles': '创建和修改角色',
  'Remove roles': '删除角色',
  'See settings and health': '查看设置和健康状态',
  'Change settings': '修改设置',
  'Apply manifests': '应用清单',
  'See releases and rulesets': '查看发布版本和规则集',
  'Import releases, rulesets and data sets': '导入发布版本、规则集和数据集',
  'Roll releases out': '推出发布版本',
  Everything: '全部',
  // Why an event cannot be excluded, and what to do instead.
  "Rule {rule} is the product's own and cannot be excluded: it {saidWhat}. Instead: {saidInstead}.":
    '规则 {rule} 是产品自带的，无法排除：它{saidWhat}。替代方法：{saidInstead}。',
  'compares the score of detection with the thresholds of the policy': '将检测评分与策略的阈值比较',
  'exclude the detectors and rules that its event names, or set crsCore.blockScore':
    '排除其事件列出的检测器和规则，或设置 crsCore.blockScore',
  'refuses methods in the parameter _method': '拒绝参数 _method 中的方法',
  'set httpPolicy.allowMethodOverrideParameter of the policy':
    '设置策略的 httpPolicy.allowMethodOverrideParameter',
  'records that sampling left the request out': '记录抽样跳过了该请求',
  'set crsCore.samplingPercentage of the policy': '设置策略的 crsCore.samplingPercentage',
  'keeps the address of the client for other rules': '为其他规则保存客户端地址',
  'set crsCore.enableDefaultCollections of the policy':
    '设置策略的 crsCore.enableDefaultCollections',
  'compares the body with the limit of the policy': '将正文与策略的上限比较',
  'set crsCore.requestBodyLimit or crsCore.requestBodyLimitAction of the policy':
    '设置策略的 crsCore.requestBodyLimit 或 crsCore.requestBodyLimitAction',
  'refuses a multipart body that cannot be read': '拒绝无法读取的 multipart 正文',
  'send it as RFC 7578 writes it: {saidWhy}': '按 RFC 7578 的写法发送：{saidWhy}',
  'servers would read the request in different ways, and an attack would hide in one of them':
    '否则不同服务器会对请求有不同解读，攻击可能藏于其中之一',
  'finds a part that is a field to some servers and a file to others':
    '发现某部分对一些服务器是字段、对另一些是文件',
  'set httpPolicy.requestBodyParseFailureAction to HTTP_POLICY_VIOLATION_ACTION_OBSERVE':
    '将 httpPolicy.requestBodyParseFailureAction 设为 HTTP_POLICY_VIOLATION_ACTION_OBSERVE',
  'set httpPolicy.requestBodyParseFailureAction to HTTP_POLICY_VIOLATION_ACTION_OBSERVE: the part is then inspected as both, or send name and filename in quotes':
    '将 httpPolicy.requestBodyParseFailureAction 设为 HTTP_POLICY_VIOLATION_ACTION_OBSERVE，该部分便按两种方式检测；或将 name 与 filename 用引号括起后发送',
  'finds that a limit of inspection was reached': '发现达到了检测上限',
  'set argLimits.argumentLimitAction of the policy, or the limit itself':
    '设置策略的 argLimits.argumentLimitAction，或该上限本身',
  'compares the fields of a form with the limit of the policy': '将表单的字段与策略的上限比较',
  'finds that rules reached a limit while they ran': '发现规则运行时达到了上限',
  'records that the rest of an answer was not inspected': '记录响应的其余部分未被检测',
  'set crsCore.responseBodyLimit of the policy': '设置策略的 crsCore.responseBodyLimit',
  'refuses XML, a part or a whole body in an encoding that is not read':
    '拒绝以无法读取的编码书写的 XML、部分或整个正文',
  'send text in UTF-8 or UTF-16, and a body in gzip, deflate or br, if in any coding: what it says is hidden from every rule otherwise':
    '文本请用 UTF-8 或 UTF-16，正文如需压缩请用 gzip、deflate 或 br：否则任何规则都看不到其内容',
  'refuses a part in base64 or quoted-printable': '拒绝以 base64 或 quoted-printable 编码的部分',
  'send the part as it is: only some servers decode it, so rules see another text than they do':
    '请不经编码直接发送：只有部分服务器会解码，规则看到的文本会与其不同',
  'refuses a compressed body that holds more than is inspected': '拒绝解压后超出检测范围的压缩正文',
  'set crsCore.requestBodyLimit of the policy, or send the body as it is':
    '设置策略的 crsCore.requestBodyLimit，或不经压缩发送正文',
  'chooses the parser of the body': '选择正文的解析器',
  'name the media type in httpPolicy.bodyProcessorOverrides of the policy':
    '在策略的 httpPolicy.bodyProcessorOverrides 中指定该媒体类型',
  'refuses a body that its parser cannot read': '拒绝其解析器无法读取的正文',
  'refuses a multipart body that servers read in different ways':
    '拒绝不同服务器会有不同解读的 multipart 正文',
  'its message says what: send CRLF line ends, one boundary and parts in UTF-8: {saidWhy}':
    '其消息说明了原因：请使用 CRLF 换行、单一边界和 UTF-8 编码的部分：{saidWhy}',
  'refuses a form whose boundary stands where only some servers see it':
    '拒绝边界位于只有部分服务器能识别之处的表单',
  'have the client choose a boundary that its content does not hold: {saidWhy}':
    '请让客户端选择内容中不会出现的边界：{saidWhy}',
  'reports a failed inspection': '报告检测失败',
  'see waf log errors': '请查看命令 waf log errors 的输出',
  'compares files with argLimits of the policy': '将文件与策略的 argLimits 比较',
  'set that limit of the policy': '设置策略的该项上限',
  'compares the scores of phase 1': '比较第 1 阶段的评分',
  'set crsCore.earlyBlocking of the policy': '设置策略的 crsCore.earlyBlocking',
  'adds up scores for reports': '汇总用于报告的评分',
  'set crsCore.reportingLevel of the policy': '设置策略的 crsCore.reportingLevel',
  'tells documents of GraphQL from commands and refuses nothing':
    '区分 GraphQL 文档与命令，不拒绝任何请求',
  'exclude the rule of the ruleset that refused the request': '排除拒绝该请求的规则集规则',
  'Rule {rule} is a custom rule: change it with waf rule update.':
    '规则 {rule} 是自定义规则：请直接修改该规则。',
  "Rule {rule} is not part of the policy's ruleset now.": '规则 {rule} 目前不在策略的规则集中。',
  'What rule {rule} matched cannot be left out alone.': '规则 {rule} 命中的内容无法单独排除。',
  'Rule {rule} matched more than was kept; try the exclusion by replay.':
    '规则 {rule} 命中的内容多于保留的部分；请通过回放试验该排除项。',
  'The path of the request cannot limit an exclusion.': '该请求的路径不能用于限定排除项。',
  'No site with a policy serves this host now: nothing can be excluded.':
    '目前没有带策略的站点服务于此主机名：无法排除。',
  'The guard {name} decided: no exclusion of a rule changes that.':
    '由防护 {name} 决定：规则排除项不会改变它。',
  'The request was refused before any rule decided ({reason}).':
    '该请求在任何规则决定之前已被拒绝（{reason}）。',
  'Inspection failed ({reason}): the fail policy of the site decided.':
    '检测失败（{reason}）：由站点的故障策略决定。',
  'Only the compact fact was kept: what the rules matched is not known.':
    '只保留了摘要：规则命中的内容未知。',
  '{count} more rules matched than were kept.': '另有 {count} 条命中的规则未保留。',
  // Limits that a request met.
  '{saidWhat} may have {count} bytes; no setting changes this limit.':
    '{saidWhat}最多 {count} 字节；此上限无法设置。',
  'A request may have {count} header fields; no setting changes this limit.':
    '请求最多有 {count} 个头字段；此上限无法设置。',
  'The request line and header fields': '请求行和头字段',
  'The request target': '请求目标',
  'A request body': '请求体',
  'A multipart body may have {count} bytes: {saidHow}':
    'multipart 正文最多 {count} 字节：{saidHow}',
  'A body that is not multipart may have {count} bytes: {saidHow}':
    '非 multipart 正文最多 {count} 字节：{saidHow}',
  'Fields of a multipart body may have {count} bytes: {saidHow}':
    'multipart 正文的字段最多 {count} 字节：{saidHow}',
  'The body is longer than the {count} bytes that decide as a whole: {saidHow}':
    '正文超过完整判定的 {count} 字节：{saidHow}',
  'The answer is longer than {count} bytes: {saidHow}': '响应超过 {count} 字节：{saidHow}',
  'The limit is argLimits.{name}, {value}: {saidHow}':
    '上限为 argLimits.{name}，{value}：{saidHow}',
  '{count} bytes of the body were not inspected: inspection ends at byte {end}. {saidHow}':
    '正文有 {count} 字节未检测：检测止于第 {end} 字节。{saidHow}',
  'The end of the body were not inspected: inspection ends at byte {end}. {saidHow}':
    '正文末尾未检测：检测止于第 {end} 字节。{saidHow}',
  'The end of the body was not inspected: inspection ends at byte {end}. {saidHow}':
    '正文末尾未检测：检测止于第 {end} 字节。{saidHow}',
  'The request reached the limit {limit}, which no setting raises; what follows was inspected as well as can be.':
    '请求达到上限 {limit}，此上限无法提高；其后的内容已尽可能检测。',
  'The request reached the limit {limit}, which no setting raises. To record such requests: {command}':
    '请求达到上限 {limit}，此上限无法提高。如只需记录此类请求：{command}',
  'no larger {name} can be set': '{name} 已是可设置的最大值',
  'change it with {command}': '可用此命令更改：{command}',
  // What is learned of values.
  'No policy inspects the site: it learns nothing, and what is accepted has no effect.':
    '没有策略检测该站点：它不学习，已接受的内容也不生效。',
  'Policy {name} also refuses by the anomaly score, which what is accepted does not change: exclude its rules with waf rule exclude, or let the score decide.':
    '策略 {name} 还按异常评分拒绝，已接受的内容不会改变它：请排除相关规则，或改由检测评分决定。',
  'Policy {name} decides by the anomaly score alone: the site learns nothing, and what is accepted has no effect.':
    '策略 {name} 只按异常评分决定：该站点不学习，已接受的内容也不生效。',
  '{saidWhat} of {method} {path} regularly holds {saidKind}: at least {clients} clients in {saidTime}':
    '{method} {path} 的{saidWhat}经常包含{saidKind}：{saidTime}至少 {clients} 个客户端',
  'The body': '正文',
  'The XML body': 'XML 正文',
  'Parameter "{name}" of {method} {path} regularly holds {saidKind}: at least {clients} clients in {saidTime}':
    '{method} {path} 的参数“{name}”经常包含{saidKind}：{saidTime}至少 {clients} 个客户端',
  'Cookie "{name}" of {method} {path} regularly holds {saidKind}: at least {clients} clients in {saidTime}':
    '{method} {path} 的 Cookie“{name}”经常包含{saidKind}：{saidTime}至少 {clients} 个客户端',
  'Header field "{name}" of {method} {path} regularly holds {saidKind}: at least {clients} clients in {saidTime}':
    '{method} {path} 的请求头“{name}”经常包含{saidKind}：{saidTime}至少 {clients} 个客户端',
  'File name of "{name}" of {method} {path} regularly holds {saidKind}: at least {clients} clients in {saidTime}':
    '{method} {path} 的“{name}”的文件名经常包含{saidKind}：{saidTime}至少 {clients} 个客户端',
  'Value "{name}" of {method} {path} regularly holds {saidKind}: at least {clients} clients in {saidTime}':
    '{method} {path} 的值“{name}”经常包含{saidKind}：{saidTime}至少 {clients} 个客户端',
  '{hours} hours': '{hours} 小时内',
  '{hours} hours since {time}': '自 {time} 起的 {hours} 小时内',
  SQL: 'SQL 语句',
  'shell commands': 'Shell 命令',
  'paths of files': '文件路径',
  'addresses of other servers': '其他服务器的地址',
  'HTML or scripts': 'HTML 或脚本',
  PHP: 'PHP 代码',
  'program code or templates': '程序代码或模板',
  'Java expressions': 'Java 表达式',
  'lines of protocols': '协议行',
  // Lists of a policy that a rule checks, and applications.
  'Rule {rule} checks httpPolicy.{list}: {saidHow}':
    '规则 {rule} 检查 httpPolicy.{list}：{saidHow}',
  'Rule {rule} checks httpPolicy.{list}: {command}':
    '规则 {rule} 检查 httpPolicy.{list}：{command}',
  'set the list with {value}, by waf policy update.': '请在策略中将 {value} 加入该列表。',
  'set the list without {value}, by waf policy update.': '请在策略中将 {value} 移出该列表。',
  'This looks like {name}. The CRS project keeps no exclusion plugin for it.':
    '看起来是 {name}。CRS 项目没有它的排除插件。',
  'This looks like {name}: its profile keeps the score from counting what its editors send. {command}':
    '看起来是 {name}：其应用配置可使检测评分不计入编辑者发送的内容。{command}',
  'This looks like {name}: its exclusion plugin keeps rules quiet there. {command} (CRS 3 holds it; with CRS 4 import it first: {import})':
    '看起来是 {name}：其排除插件可避免规则误报。{command}（CRS 3 已附带；使用 CRS 4 时请先导入：{import}）',
  'This looks like {name}: its exclusion plugin keeps rules quiet there. {command} (import it first, no ruleset holds it: {import})':
    '看起来是 {name}：其排除插件可避免规则误报。{command}（规则集未附带，请先导入：{import}）',
  // Warnings about policies.
  'crsCore.decision has no effect: blockingMode has each rule refuse by itself':
    'crsCore.decision 不生效：按 blockingMode，每条规则各自拒绝请求',
  'crsCore.{name} has no effect: {saidWhy}': 'crsCore.{name} 不生效：{saidWhy}',
  'crsCore.decision leaves the anomaly score alone to decide':
    '按 crsCore.decision，只由异常评分决定',
  'crsCore.decision has the score decide, after the body':
    '按 crsCore.decision，由检测评分在读取正文后决定',
  'crsCore.decision has the score decide, of XML as a whole':
    '按 crsCore.decision，由检测评分决定，XML 作为整体检测',
  'crsCore.requestBodyExcessAction is OFF': 'crsCore.requestBodyExcessAction 为 OFF',
  'crsCore.requestBodyLimitAction refuses longer bodies; OBSERVE takes them':
    '按 crsCore.requestBodyLimitAction，更长的正文会被拒绝；设为 OBSERVE 则接受',
  'the policy has no ruleset: only its own rules run': '策略没有规则集：只运行其自定义规则',
  'crsCore.samplingPercentage: sampling is of the rules of a ruleset; the own rules run for all requests':
    'crsCore.samplingPercentage：抽样只针对规则集的规则；自定义规则对所有请求运行',
  '{count} exclusions and overrides of this site ({named}) belong to policy {policy} and do not act under its new policy: make them there, too, or set the policy back':
    '该站点的 {count} 个排除项（{named}）属于策略 {policy}，在新策略下不起作用：请在新策略中也创建，或改回原策略',
  '{count} custom rules of this site ({named}) belong to policy {policy} and do not act under its new policy':
    '该站点的 {count} 条自定义规则（{named}）属于策略 {policy}，在新策略下不起作用',
  'the certificate was managed at the source; here it is kept as uploaded':
    '该证书在来源处为托管证书；在此按自有证书保存',
  'a disabled site is not served': '已停用的站点不提供服务',
  'site.upstreams: a site without an origin is not served': '没有源站的站点不提供服务',
  // Which parts of an API document are not checked, and why.
  'describes XML, whose content is not checked': '描述 XML，其内容不检查',
  'describes bodies of several media types: it is not checked': '描述多种媒体类型的正文：不检查',
  'is not checked of bodies that are one text': '对整体为一段文本的正文不检查',
  'describes fields that can be read from a form in more than one way':
    '描述的字段可以多种方式从表单读取',
  'can be read from a form in more than one way': '可以多种方式从表单读取',
  'is a file, whose content is not checked': '是文件，其内容不检查',
  'names a dialect that is not compiled: no schema is checked':
    '使用不支持的方言：不检查任何 schema',
  'no approved mapping takes this operation: it is not declared':
    '没有已批准的映射接受此操作：未声明',
  'another operation takes the same requests: this one is left out':
    '另一操作接受相同的请求：此操作被略过',
  'with its mappings, and all after it, is past the bound of {count} operations':
    '连同其映射及其后的操作超过 {count} 个操作的上限',
  'is not approved: it takes nothing': '未批准：不接受任何请求',
  'names a server that the document does not have': '指定了文档中没有的服务器',
  'leaves a variable of the server open': '未给出服务器的某个变量',
  'has another base path than the server of the document': '基础路径与文档中的服务器不同',
  'is past the bound of {count} operations': '超过 {count} 个操作的上限',
  'callbacks are requests that the origin sends: declare those that this site receives as paths':
    '回调是源站发出的请求：请将本站点接收的回调声明为路径',
  'needs a name and a place': '需要名称和位置',
  'has more than {count} parameters: the rest is not checked': '参数超过 {count} 个：其余不检查',
  'has a value that this keyword cannot have': '含有此关键字不允许的值',
  'names a property __proto__': '含有名为 __proto__ 的属性',
  'is a place that is not checked': '此位置不检查',
  'is a layout that is not read': '不支持此编排方式',
  'can be read from a text in more than one way': '可以多种方式从文本读取',
  'consists of more than {count} schemas': '由超过 {count} 个 schema 组成',
  'cannot be compiled': '无法编译',
  'rests on what cannot be compiled': '依赖无法编译的内容',
  'the alternatives are checked without it': '检查各可选项时不考虑它',
  'the schemas that extend this one are not checked for it': '对扩展此 schema 的内容不做该项检查',
  'is no schema': '不是 schema',
  'is a format that is not checked': '不检查此格式',
  'is not compiled': '不支持',
  'is not checked': '不检查',
  'is not compiled beside keywords that evaluate items': '与评估数组项的关键字并用时不支持',
  'is not compiled beside a condition without its consequences': '与没有结果的条件并用时不支持',
  'names a dialect that is not compiled': '使用不支持的方言',
  'gives references another base: they are not followed': '更改了引用的基准：不解析这些引用',
};
