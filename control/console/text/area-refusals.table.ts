/**
 * Refusals that are about one area of the product, with their Chinese; those that many areas share
 * are in other tables. `{name}` stands for a value, `{said}` for a refusal of its own. Loaded where
 * the console is shown in Chinese.
 */

/** Chinese texts by the refusal. */
export const areaRefusals: Readonly<Record<string, string>> = {
  // Calls in general.
  'came with another request before: send a new key for a changed request':
    '此前已用于另一请求：请为更改后的请求使用新的键',
  'an API token cannot make this call: sign in': 'API 令牌不能执行此操作：请登录',
  'this API token is for single sites': '此 API 令牌仅限特定站点',
  'this API token is for other sites': '此 API 令牌用于其他站点',
  'no engine answers: is it running?': '没有引擎应答：它是否在运行？',
  'too many changes of rules wait to be tried by the engine; try again later':
    '等待引擎试编译的规则更改过多；请稍后再试',
  'calls from pages of other sites are refused': '拒绝来自其他站点页面的调用',
  'Unknown field "{name}". The message has no fields.': '未知字段“{name}”。该消息没有字段。',
  'request: is not valid UTF-8': '请求不是有效的 UTF-8',
  'request: is not valid JSON; send {} for no fields': '请求不是有效的 JSON；没有字段时请发送 {}',
  'request: is not valid identity data': '请求的编码无效',
  'is not a {message} in binary form': '不是二进制形式的 {message}',
  'holds more than {count} values': '超过 {count} 个值',
  'content-encoding: send gzip or none': '内容编码：请使用 gzip 或不压缩',
  'is required: name the fields to change, joined by commas':
    '必填：请列出要更改的字段，以逗号分隔',
  'path {path} names no field that can be changed': '路径 {path} 不是可更改的字段',
  'excludes cursor': '不能与游标同时使用',
  'excludes page.cursor: give one of them': '不能与 page.cursor 同时使用：请选择其一',
  'is not one of ours': '不是本服务给出的值',
  'gives more than {most} points: take a longer step': '超过 {most} 个点：请使用更长的间隔',
  'allowed are {list}': '允许的值：{list}',
  'must lie before to': '必须早于结束时间',
  'must not be before start': '不能早于开始时间',
  'is required; must be one of {list}': '必填；必须是以下之一：{list}',
  'goes with {field} only': '仅与 {field} 一起使用',
  'does not exist': '不存在',
  'the form is too large': '表单过大',
  '{field}: changed since the preview; preview the declaration again':
    '{field}：自预览以来已更改；请重新预览声明',
  '{field}: must be true: review {what}': '{field}：必须为 true：请查看 {what}',
  // Signing in.
  'no user may sign in with this identity: ask an administrator to allow the provider':
    '没有用户可用此身份登录：请联系管理员允许该提供方',
  'the identity provider does not answer as an OpenID provider': '身份提供方未按 OpenID 规范应答',
  'No identity provider with this id, or auth.public_url is not set.':
    '没有此身份提供方，或未设置 auth.public_url。',
  'a provider hands out a role that does not exist': '某提供方授予的角色不存在',
  'a provider gives permissions that you do not hold': '某提供方授予您没有的权限',
  'must be radius, oidc:ID or saml:ID with the id of a provider':
    '必须是 radius、oidc:ID 或 saml:ID（ID 为提供方的标识）',
  'must be a JSON object of role ids by group': '必须是以用户组为键、角色标识为值的 JSON 对象',
  'passkeys need a browser': '通行密钥需要浏览器',
  'passkeys need a host name, not an address: open the console by its name, or set auth.public_url':
    '通行密钥需要主机名而非地址：请用主机名打开控制台，或设置 auth.public_url',
  'passkeys need HTTPS': '通行密钥需要 HTTPS',
  'passkeys are for {origin}: open the console there':
    '通行密钥用于 {origin}：请在该地址打开控制台',
  'passkeys are off: people sign in by RADIUS or by an identity provider only':
    '通行密钥已关闭：只能通过 RADIUS 或身份提供方登录',
  'has lapsed; begin again': '已失效；请重新开始',
  'the last passkey is asked for after the password: switch that off first':
    '密码后要求此最后一个通行密钥：请先关闭该要求',
  'needs a passkey; add one first': '需要通行密钥；请先添加',
  'no passkey answers this challenge': '没有可用于此验证的通行密钥',
  'is empty where a passkey answers': '使用通行密钥应答时必须为空',
  'This account asks for a passkey: sign in with a browser': '此账户要求通行密钥：请使用浏览器登录',
  'the passkey is not known here': '未登记此通行密钥',
  'this user has no password': '该用户没有密码',
  'a user has at most {count} passkeys': '每个用户最多 {count} 个通行密钥',
  'does not answer this registration': '与此次登记不符',
  "must be the JSON of a browser's answer": '必须是浏览器应答的 JSON',
  // Users and API tokens.
  'spec.locked: nobody can lock the own user': '不能锁定自己的用户',
  'id: an identity provider hands out this role': '某身份提供方正在授予此角色',
  'allUsers: needs user:read': '查看所有用户需要权限 user:read',
  'allOwners: needs user:read, and no API token':
    '查看所有所有者需要权限 user:read，且不能使用 API 令牌',
  'send a valid bearer token': '请发送有效的令牌',
  'the API token has ended': '此 API 令牌已失效',
  'this API token may not manage tokens': '此 API 令牌不能管理令牌',
  'mayManageTokens: only people make such tokens': '只有用户本人能创建可管理令牌的令牌',
  'is required on the administration socket': '通过管理套接字调用时必填',
  'ownerId: a token belongs to who makes it': '令牌属于其创建者',
  'is no permission': '不是权限',
  'is no permission of the role': '不是该角色的权限',
  'holds permissions that the owner does not hold': '包含所有者没有的权限',
  'siteIds: name sites of the token that makes it': '请从创建所用令牌的站点中指定',
  'and expiresAt exclude each other': '不能与 expiresAt 同时使用',
  'is more than 366 days away: choose an earlier time': '超过 366 天：请选择更早的时间',
  'is after the end of the token that makes it': '晚于创建所用令牌的到期时间',
  'must be success, failure, or empty for both': '必须是 success 或 failure，留空表示两者',
  // The language model.
  'the key was given for another server: nothing was sent. Set the key of this one, or remove it':
    '密钥属于另一服务器：未发送任何内容。请设置此服务器的密钥，或将其删除',
  'the question is too long: {bytes} of {most} bytes': '问题过长：{bytes} 字节，上限 {most} 字节',
  'the model is asked too much at once; try again later': '同时向模型提出的请求过多；请稍后再试',
  'the model was asked {calls} times this hour: the limit':
    '本小时已向模型请求 {calls} 次，达到上限',
  "this call may take {tokens} tokens, and today's limit leaves fewer":
    '此次调用可能用掉 {tokens} 个 token，超过今日剩余额度',
  'the model gave filters that no query takes; ask otherwise':
    '模型给出了无法使用的筛选条件；请换一种问法',
  'the model did not answer in the form asked for; try again': '模型未按要求的格式应答；请重试',
  'the model drafted no rule; say more of what it is to do':
    '模型没有起草规则；请更详细地说明其用途',
  'the model drafted no single rule; try again': '模型起草的不是单条规则；请重试',
  'the model drafted more than rules; nothing was kept': '模型起草的内容不只是规则；未保留任何内容',
  'the model drafted a rule with the action {action}, which only people may write; nothing was kept':
    '模型起草的规则含操作 {action}，该操作只能由人编写；未保留任何内容',
  'the model drafted a rule that cannot be used: {said}': '模型起草的规则无法使用：{said}',
  'the model drafted a rule that cannot be used: {reason}': '模型起草的规则无法使用：{reason}',
  'Not tried on retained requests: that needs policy:test and log:read.':
    '未在保留的请求上试运行：需要权限 policy:test 与 log:read。',
  'id: the proposal is {state} already': '该建议已处于状态 {state}',
  'is required, or logTable': '必填，或给出 logTable',
  'must be user or assistant': '必须是 user 或 assistant',
  'must have no user, query or fragment: the key is set apart':
    '不能有用户、查询或片段：密钥另行设置',
  // Rules, policies and rulesets.
  'has a file larger than {count} bytes': '包含超过 {count} 字节的文件',
  'is required, or a githubTag': '必填，或给出 githubTag',
  'no more exclusion plugins can be kept': '不能再保留更多排除插件',
  'must hold files named *-config.conf, *-before.conf, *-after.conf':
    '必须包含名为 *-config.conf、*-before.conf、*-after.conf 的文件',
  'names no plugin of the CRS project; import its archive instead':
    '不是 CRS 项目的插件；请改为导入其压缩包',
  'releases.json of the mirror lists no release': '镜像的 releases.json 未列出任何发布版本',
  'must be an http(s) URL without credentials': '必须是不带凭据的 http(s) URL',
  'releases: the source sent no list of releases': '来源未给出发布版本列表',
  'names no exclusion plugin': '没有这个排除插件',
  'excludes archive, sourceUrl and githubTag': '不能与压缩包、来源 URL 或 githubTag 同时使用',
  'excludes signature and publicKey: the mirror has them': '不能与签名和公钥同时使用：镜像中已有',
  'is required, or a sourceUrl or githubTag': '必填，或给出来源 URL 或 githubTag',
  'must be an http(s) URL without a query': '必须是不带查询的 http(s) URL',
  'must be a fingerprint: 40 hex digits in upper case': '必须是指纹：40 位大写十六进制数字',
  'must be a release tag such as {example}': '必须是发布标签，例如 {example}',
  'must be a slug of lower-case letters, digits and dashes': '必须由小写字母、数字和短横线组成',
  'has more than {count} entries: bind the list instead': '超过 {count} 个条目：请改为绑定列表',
  'is over; change it, or disable the patch': '已过期；请更改，或停用该补丁',
  'is refused before any rule sees it ({reason})': '在任何规则检测之前已被拒绝（{reason}）',
  'must name every rule of the policy once': '必须将策略的每条规则各列出一次',
  'takes texts named {list}': '可用的文本名称：{list}',
  'stand in the patch, if there is one': '有补丁时，请写在补丁中',
  'line {line}: rule id {id} must be between 1 and {last}: higher ones belong to rulesets and to the product':
    '第 {line} 行：规则编号 {id} 必须在 1 与 {last} 之间：更大的编号属于规则集和产品',
  'the pattern {said}': '正则表达式{said}',
  'the pattern {problem}': '正则表达式无效：{problem}',
  'must be ipMatch with a list': '使用列表时必须是 ipMatch',
  'must be empty with a list': '使用列表时必须为空',
  'must not be below the request body limit, which is {limit}': '不得低于请求体上限 {limit}',
  '{at}.removedTargets: the rule is disabled there, so that an exclusion changes nothing; replace the override to run the rule with exclusions':
    '{at}.removedTargets：该规则在此已停用，排除不会产生任何变化；如需带排除项运行，请替换该覆盖',
  'is not part of the override': '不属于该覆盖',
  'a detector can be disabled or leave targets out: it adds no points to the anomaly score':
    '检测器只能停用或排除目标：它不增加异常评分',
  "a rule of the product's own can be disabled or leave targets out":
    '产品自带的规则只能停用或排除目标',
  'goes with no added targets or tags: these are for every path':
    '不能与新增目标或标签同时使用：它们适用于所有路径',
  '@{operator} cannot compare with %{name}': '@{operator} 不能与 %{name} 比较',
  'must have no spaces or control characters and at most 16 KiB':
    '不能含空格或控制字符，最多 16 KiB',
  'must be absolute or begin with a slash': '必须是绝对地址，或以斜杠开头',
  'must have exactly one of {list}': '必须恰好包含以下之一：{list}',
  'must be a list of transformations such as {example}': '必须是转换的列表，例如 {example}',
  'must be the id of a fault, such as {example}': '必须是漏洞编号，例如 {example}',
  'must have {what} (expect: {expect})': '必须有 {what}（expect: {expect}）',
  'must be texts of at most {count} bytes': '必须是最多 {count} 字节的文本',
  'takes bindings alone, for example {example}': '只接受绑定，例如 {example}',
  'takes plugins alone, for example {example}': '只接受插件，例如 {example}',
  'must be a binding as ListIpListBindings shows it': '必须是绑定列表所示形式的绑定',
  'must be empty or this policy': '必须为空或为此策略',
  'must not mix inspection settings with other fields': '检测设置不能与其他字段一起更改',
  'policy.status: it protects sites that name no policy; it cannot be archived':
    '它保护未指定策略的站点；不能归档',
  'must name a site with the WAF enabled and this policy': '必须是启用 WAF 并使用此策略的站点',
  'must be CRS_CORE, HTTP_POLICY, ARG_LIMITS, IP_LIST_BINDINGS or PLUGINS':
    '必须是 CRS_CORE、HTTP_POLICY、ARG_LIMITS、IP_LIST_BINDINGS 或 PLUGINS',
  'does not fit the layer': '与该层不符',
  'must be the draft': '必须是草稿',
  'too many runs wait already; try again later': '等待中的运行过多；请稍后再试',
  // IP lists, countries and geo databases.
  'the list changed while its source was fetched': '获取来源期间列表已更改',
  'is global here; UpsertIpListBinding takes the others': '此处为全局；其他范围请在策略中绑定',
  'expected: the binding changed since; read it again': '该绑定在此期间已更改；请重新读取',
  'ipListId: the entries changed while they were read; try again': '读取期间条目已更改；请重试',
  'spec.source: the list is filled by hand': '该列表为手工维护',
  'must be empty, manual or subscription': '必须是 manual 或 subscription，或为空',
  'is manual here; see CreateIpListSubscription': '此处为手工维护；订阅请另行创建',
  'is required to replace the entries of so long a list': '替换这样长的列表的条目时必填',
  'id: the list changed while it was copied; try again': '复制期间列表已更改；请重试',
  'is required where ipListId names none': '未指定 IP 列表时必填',
  'id: no update of this list is held': '该列表没有待确认的更新',
  'is required to change a rule: send the one that you read': '更改规则时必填：请发送读取时的值',
  'is required: a .mmdb file, plain or gzip': '必填：.mmdb 文件，可用 gzip 压缩',
  'is no MaxMind database (.mmdb), plain or gzip': '不是 MaxMind 数据库（.mmdb，可用 gzip 压缩）',
  'does not fit the type that the database states': '与数据库声明的类型不符',
  'cannot be unpacked, or is larger than {count} bytes when it is':
    '无法解压，或解压后超过 {count} 字节',
  'must be an http(s) URL with {kind} in it, and {month} where it has one':
    '必须是包含 {kind} 的 http(s) URL，按月提供时还须包含 {month}',
  'must be an http(s) URL with {kind} in it, or empty': '必须是包含 {kind} 的 http(s) URL，或为空',
  'goes with format json_v1 only': '仅用于格式 json_v1',
  'must be a JSONPath (RFC 9535) such as {example}': '必须是 JSONPath（RFC 9535），例如 {example}',
  'must be a request header that the fetch does not set': '必须是获取时不会自行设置的请求头',
  'no value is stored': '未存储任何值',
  'state the value anew for another server': '更换服务器后请重新填写该值',
  'goes with include only': '仅用于包含方式',
  'another geo database is being fetched; try again': '正在获取另一地理数据库；请重试',
  'month: the source has no {kind} database of {months}': '来源没有 {months} 的 {kind} 数据库',
  'kind: the source sent no {kind} database (.mmdb)': '来源给出的不是 {kind} 数据库（.mmdb）',
  '{field}: {said}; see the setting outgoing.allowed_networks':
    '{field}：{said}；请查看设置 outgoing.allowed_networks',
  '{field}: {reason}; see the setting outgoing.allowed_networks':
    '{field}：{reason}；请查看设置 outgoing.allowed_networks',
  // Alerts.
  'excludes status': '不能与状态同时使用',
  'rule {rule} has {count} channels already': '规则 {rule} 已有 {count} 个通道',
  'only security_threshold can be replayed: states of nodes, certificates, origins and storage are not kept over time':
    '只有 security_threshold 可以回放：节点、证书、源站和存储的状态不保留历史',
  'must be starttls or tls where there is a password': '有密码时必须是 starttls 或 tls',
  'no value is kept: {text} keeps none': '没有已保存的值：{text} 不保留任何值',
  'must be an integration key of 16 to 64 letters and digits':
    '必须是 16 至 64 个字母和数字的集成密钥',
  'must be an object of names and values': '必须是由名称和值组成的对象',
  'must hold request headers that sending does not set itself': '必须是发送时不会自行设置的请求头',
  'is required: a condition as JSON': '必填：JSON 形式的条件',
  'must be 0, for no repetition, or {least} and more': '必须是 0（不重复）或不小于 {least}',
  'must be JSON such as {example}': '必须是 JSON，例如 {example}',
  'must be text {what}': '必须是文本（{what}）',
  'has an unknown language: {list}': '语言未知：{list}',
  'has names of 1 to 64 letters, digits, _ and -': '名称须为 1 至 64 个字母、数字、_ 或 -',
  'has an unknown event: {list}': '事件未知：{list}',
  'names an unknown variable; {list}': '变量未知；{list}',
  'has a {{ or }} that belongs to no variable': '含有不属于任何变量的 {{ 或 }}',
  'needs at least one of {list}': '至少需要以下之一：{list}',
  'holds an unknown name. Allowed: {list}': '包含未知名称。允许：{list}',
  // Manifests.
  'too many manifests are being read: try again in a minute': '正在读取的清单过多：请一分钟后再试',
  'goes with entries of a Site only': '仅用于站点的条目',
  'expectedPlanId: the plan is another one now; look at it again': '计划已变化；请重新查看',
  'manifest: is not UTF-8': '清单不是 UTF-8 编码',
  'kind: a document of kind {kind} needs {permission} as well':
    '类型为 {kind} 的文档还需要权限 {permission}',
  'no secret is stored that configured could stand for: write it here once':
    '没有可由 configured 代表的已存机密：请在此填写一次',
  'metadata.id: has letters, digits, dots, - and _ only': '只能包含字母、数字、点、- 和 _',
  'metadata.id: is taken': '该标识已被使用',
  // What `taken` says of a name.
  'role.name: another role has it': '另一角色已使用此名称',
  'endpoint.pathPattern: another limit has this path and methods': '已有相同路径和方法的速率限制',
  'policy.name: another policy has it': '另一策略已使用此名称',
  'group.name: another group has it': '另一节点组已使用此名称',
  'name: another DNS provider has it': '另一 DNS 提供方已使用此名称',
  'upstream.name: another pool has it': '另一源站池已使用此名称',
  'ipList.name: another IP list has this name': '已有同名的 IP 列表',
  'rule.name: another country rule has it': '另一国家/地区规则已使用此名称',
  'binding.pathPrefix: the plugin is used there already': '该处已使用此插件',
  'channel.name: another alert channel has this name': '已有同名的告警通道',
  'rule.name: another alert rule has this name': '已有同名的告警规则',
  // What is wrong with a password.
  '{saidWhy}: choose another one': '{saidWhy}：请换一个',
  'repeats one short piece': '是短片段的重复',
  'is a run of neighboring keys or letters': '是相邻按键或字母的序列',
  'is the name of the user with little around it': '只是在用户名前后添加了少量字符',
  'is a common password with digits or signs around it': '是常见密码加上数字或符号',
  // Forms of values in JSON.
  'must be a whole number, as a decimal string': '必须是以十进制字符串表示的整数',
  'must be a whole number from 0, as a decimal string': '必须是以十进制字符串表示的非负整数',
  'must be a whole number of 32 bits': '必须是 32 位整数',
  'must be a whole number from 0 of 32 bits': '必须是 32 位非负整数',
  'must be base64': '必须是 base64',
  'must be an RFC 3339 time such as {example}': '必须是 RFC 3339 时间，例如 {example}',
  'must be a duration in seconds such as {example}': '必须是以秒为单位的时长，例如 {example}',
  'must be a JSON object of texts': '必须是值为文本的 JSON 对象',
  'has the wrong form': '形式错误',
  'has the wrong type': '类型错误',
  // Alerts, plugins and changes that others made.
  'id: the alert is {state} already; only an open alert can be acknowledged':
    '该告警已处于状态 {state}；只能确认未处理的告警',
  'id: the alert is {state} already; only an open or acknowledged alert can be resolved':
    '该告警已处于状态 {state}；只能解决未处理或已确认的告警',
  'review: is required: send the one that you read': '必填：请发送读取时的值',
  'review.controlRevision: the controls of the site changed since the review; read it again and preview anew':
    '站点的控制在查看之后已更改；请重新读取并预览',
  'review.inputRevision: the site changed since the review; read it again and preview anew':
    '站点在查看之后已更改；请重新读取并预览',
  'review.targetsSha256: the nodes changed since the review; read it again and preview anew':
    '节点在查看之后已更改；请重新读取并预览',
  'review.dependenciesSha256: what the controls depend on changed since the review; read it again and preview anew':
    '控制所依赖的内容在查看之后已更改；请重新读取并预览',
  'The node {node} is not connected: what it can do is not known.':
    '节点 {node} 未连接：其能力未知。',
  'there is no body control to keep': '没有可保留的请求体控制',
  'the operation has no candidate': '该操作没有候选',
  'the operation has no body control in effect': '该操作没有生效中的请求体控制',
  'had no body control in effect for this endpoint': '此接口当时没有生效中的请求体控制',
  'the approval of its body control is not kept any more; apply it anew':
    '其请求体控制的批准已不再保留；请重新应用',
  'the engine did not finish building the rules in time; nothing was kept':
    '引擎未能及时完成规则编译；未保留任何更改',
  '{at}: is a template: make a policy from it': '{at}：是模板：请由它创建策略',
  '{at}: is archived: activate it first': '{at}：已归档：请先启用',
  'is a template: make a policy from it': '是模板：请由它创建策略',
  'is archived: activate it first': '已归档：请先启用',
  'must have no quotes, commas, % or \\': '不能含引号、逗号、% 或 \\',
  '{file}:{line} is no rule': '{file}:{line} 不是规则',
  // Releases and their signatures.
  'is no minisign signature; send the whole .minisig file':
    '不是 minisign 签名；请发送完整的 .minisig 文件',
  'is not prehashed; sign again without minisign -l':
    '不是预哈希签名；请不带 -l 用 minisign 重新签名',
  'is of a key that the setting {setting} does not name': '其密钥不在设置 {setting} 中',
  'is not of this file; it was changed, or another file was signed':
    '与此文件不符；文件已被更改，或签名属于另一文件',
  'has a trusted comment that was changed after signing': '可信注释在签名后被更改',
  'no key is trusted; see the setting {setting}': '没有受信任的密钥；请查看设置 {setting}',
  'the signature of the index cannot be read': '无法读取索引的签名',
  'the index is signed by a key that {setting} does not name': '索引的签名密钥不在 {setting} 中',
  'the index or its signature was changed': '索引或其签名已被更改',
  'the signature is not one of an index': '该签名不是索引的签名',
  'the index has expired; its signer has to renew it': '索引已过期；须由其签名者续期',
  'the index is older than one that was seen before': '索引比此前见过的更旧',
  'the index is no JSON': '索引不是 JSON',
  'the index is not of {format}': '索引的格式不是 {format}',
  'the index must list at most {count} releases': '索引最多列出 {count} 个发布版本',
  'no node is of its platform': '没有该平台的节点',
  'every node runs it already': '所有节点均已运行该版本',
  'install the release on its machine and restart waf run': '请在其机器上安装该版本并重启 waf run',
  'the node was not connected for {minutes} minutes': '节点 {minutes} 分钟未连接',
  'the node did not answer for {minutes} minutes': '节点 {minutes} 分钟未应答',
  // Settings, sites and proxies that are trusted.
  'must be the name of a model': '必须是模型名称',
  'must be a version': '必须是版本',
  'must be * or an origin such as {example}': '必须是 * 或来源，例如 {example}',
  'is for inline endpoints: a pool has headers of its own':
    '仅用于直接填写的地址：源站池有自己的请求头',
  'at most {count}': '最多 {count} 个',
  'internet and waf are the ends of every path': 'internet 与 waf 是每条路径的两端',
  'another node has it': '另一节点已使用',
  'must have 1 to {count} printable characters': '必须是 1 至 {count} 个可打印字符',
  'must be empty or one of {list}': '必须为空或以下之一：{list}',
  'must be a node of the profile, or internet': '必须是该配置中的节点或 internet',
  'must be a node of the profile, or waf': '必须是该配置中的节点或 waf',
  'must be a node of the profile': '必须是该配置中的节点',
  'must join two different ends': '必须连接两个不同的端点',
  'must not lead back to a node': '不能形成环路',
  'make at most {count} paths': '最多形成 {count} 条路径',
  'lies on no path from internet to waf': '不在从 internet 到 waf 的任何路径上',
  'must be an id of its own': '标识不能重复',
  'name the nodes that write this header': '请指定写入此请求头的节点',
  'must be empty for remote_addr': '使用 remote_addr 时必须为空',
  'the peer needs no trust': '对端地址无需信任',
  'must be left or right': '必须是 left 或 right',
  'goes with selector position only; leave it out, or set selector to position':
    '仅用于按位置选择；请省略，或将选择方式设为 position',
  'is required for this parser': '此解析方式必填',
  'must be the name of a header': '必须是请求头名称',
  'never names a client': '从不表示客户端',
  'is not known to be written by proxies; force accepts it': '通常不由代理写入；可强制接受',
  'Enter the code of your authenticator app': '请输入身份验证器应用中的验证码',
  'Enter the code of your token': '请输入令牌上的验证码',
  // Data that serves no client at the moment.
  'too many long questions about events at once: ask again in a moment':
    '同时进行的事件长查询过多：请稍后再试',
  'countryCodes: stands for too many clients; ask for a shorter time or one site':
    '该国家/地区对应的客户端过多：请缩短时间范围或选择单个站点',
  'the thread that reads events ended: ask again': '读取事件的线程已结束：请重试',
  'ClickHouse takes no events: {reason}': 'ClickHouse 不接受事件：{reason}',
  'ClickHouse still removes old events: that is looked at again later':
    'ClickHouse 仍在删除旧事件：稍后会再次检查',
  'too many events wait for ClickHouse: nodes send them again':
    '等待写入 ClickHouse 的事件过多：节点会重新发送',
  'an answer of ClickHouse ended in the middle of a row: ask again':
    'ClickHouse 的应答在一行中间结束：请重试',
  'the shared store cannot be reached ({reason})': '无法连接共享存储（{reason}）',
  'others changed the store meanwhile: try again': '存储在此期间被他人更改：请重试',
  'the client is gone': '客户端已断开',
  'HTTP 504': '服务器网关超时（504）',
  // Rules that take part in every decision.
  'nothing was kept': '未保留任何内容',
  'sets up, compares or reports the scores of all rules: without it nothing is blocked. {advice}':
    '用于设置、比较或报告所有规则的评分：没有它就不会拦截任何请求。{advice}',
  // What stands in place of a sentence that is passed on.
  '{field}: {said} ({code})': '{field}：{said}（{code}）',
  'request: is not valid {coding} data': '请求不是有效的 {coding} 数据',
  'draft.schemaMode: is {mode} now; change it by StageSchemaBindings and ChangeSchemaControl':
    '目前为 {mode}；请在 API 声明的控制中更改',
  '{field}: stand in a Policy or a Site': '{field}：应写在策略或站点中',
  'is to {wanted}, but the patch matches it': '应为 {wanted}，但补丁命中了它',
  'is to {wanted}, but the patch does not match it': '应为 {wanted}，但补丁未命中它',
  // Forms of single entries.
  'must be a method': '必须是方法',
  'must be a charset': '必须是字符集',
  'must be an ending such as {example}': '必须是扩展名，例如 {example}',
  'must be a field name': '必须是字段名称',
  'must be a plain field name': '必须是普通的字段名称',
  'must be a target such as {example}': '必须是目标，例如 {example}',
  'must be a tag': '必须是标签',
  'must be the id of a node': '必须是节点的标识',
};
