/**
 * Sentences of the API beside messages of rules, with their Chinese; `{name}` stands for a value.
 * Loaded where the console is shown in Chinese.
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
  // Health.
  'the local engine is not connected': '本机引擎未连接',
  'the newest configuration is not applied yet': '最新配置尚未生效',
  'no node is connected': '没有节点连接',
  'events, evidence and traffic counts stay with the controller that their node is connected to; set WAF_EVENTS_CLICKHOUSE at every controller to have events in one place':
    '事件、证据和流量计数留在其节点所连接的控制器上；在每个控制器上设置 WAF_EVENTS_CLICKHOUSE，可将事件集中存放',
  'evidence and traffic counts stay with the controller that their node is connected to':
    '证据和流量计数留在其节点所连接的控制器上',
};
