/**
 * Refusals about nodes, releases, sites, origins, certificates and logs, with their
 * Chinese. `{name}` stands for a value, `{said}` for a refusal of its own. Loaded where the console
 * is shown in Chinese.
 */

/** Chinese texts by the refusal. */
export const siteRefusals: Readonly<Record<string, string>> = {
  // Nodes and releases.
  'give either id or group': '请给出 id 或 group 之一',
  'must be an id from ListConfigBundles, such as {example}':
    '必须是配置列表中的标识，例如 {example}',
  'the built-in node has no certificate': '内置节点没有证书',
  'must be a node': '必须是节点',
  'run {id} is open: cancel it, or wait for its end': '升级 {id} 仍在进行：请取消或等待其结束',
  'release {id} was deleted meanwhile': '发布版本 {id} 在此期间已被删除',
  'at most {count} read one run': '最多 {count} 个客户端可同时查看一次升级',
  '{node} is no {platform} machine; the release is for those':
    '{node} 不是 {platform} 机器；该发布版本仅用于此类机器',
  'agentIds: is signed by a key that {setting} does not name any more':
    '其签名密钥已不在设置 {setting} 中',
  'agentIds: no node was upgraded by a run': '没有节点由升级任务升级过',
  'agentIds: a run has at most {count} nodes; name some of them':
    '每次升级最多 {count} 个节点；请指定其中一部分',
  'releaseId: {id} is signed by a key that {setting} does not name any more':
    '{id} 的签名密钥已不在设置 {setting} 中',
  'releaseId: the file of {id} is missing; import it again': '{id} 的文件缺失；请重新导入',
  'must not name a node twice': '不能重复指定节点',
  'another check is being made; try again': '正在进行另一次检查；请重试',
  'is required, or a sourceUrl; not both': '必填，或给出来源 URL；不能两者都给',
  'another release is being imported; try again': '正在导入另一发布版本；请重试',
  'tarball: {id} is imported in another channel; delete it first':
    '{id} 已在另一渠道导入；请先删除',
  'tarball: {id} is imported with other content; delete it first':
    '{id} 已以不同内容导入；请先删除',
  'tarball: at most {count} releases of together {bytes} bytes are kept; delete one first':
    '最多保留 {count} 个发布版本，共 {bytes} 字节；请先删除一个',
  'tarball: is no .tar.gz file': '不是 .tar.gz 文件',
  'tarball: the disk of the data folder is full; free space and import again':
    '数据目录所在磁盘已满；请释放空间后重新导入',
  'id: {run} rolls {id} out; cancel it first': '{run} 正在推出 {id}；请先取消',
  'runId: run {id} has {state} already': '升级 {id} 已处于状态 {state}',
  'must be an https URL without a query, or empty to ask nobody':
    '必须是不带查询的 https URL，留空表示不询问',
  'must be a minisign public key: a line such as {example}':
    '必须是 minisign 公钥：形如 {example} 的一行',
  'signature: No key is trusted; add a public key to the setting release.trusted_keys.':
    '没有受信任的密钥；请在设置 release.trusted_keys 中添加公钥。',
  'is required: the text of the .minisig file': '必填：.minisig 文件的内容',
  'the trusted comment must read: {example}': '可信注释必须为：{example}',
  // Sites, origins and certificates.
  'No site has the id "{id}".': '没有标识为“{id}”的站点。',
  'id: the site has neither an upstream nor a route; give it one, or force':
    '该站点既没有源站也没有路由；请先设置，或强制执行',
  '{said}; change it, or force': '{said}；请更改，或强制执行',
  '{reason}; change it, or force': '{reason}；请更改，或强制执行',
  'must be RESOURCE_STATUS_ACTIVE or RESOURCE_STATUS_DISABLED':
    '必须是 RESOURCE_STATUS_ACTIVE 或 RESOURCE_STATUS_DISABLED',
  '{field}: the site uses the policy {policy}, so that this would have no effect there; name that policy, or move the site first':
    '{field}：该站点使用策略 {policy}，此更改不会生效；请指定该策略，或先更换站点的策略',
  'must be active or disabled': '必须是 active 或 disabled',
  'and eabHmacKey belong together: give both or neither': '须与 eabHmacKey 同时给出或同时省略',
  'is required for acmeIssuer custom': '自定义 ACME 签发方必填',
  'must be a name of public DNS': '必须是公共 DNS 中的名称',
  'demands stapled OCSP responses (must-staple), which are not sent here':
    '要求 OCSP 装订（must-staple），此处不支持',
  '{saidWhat}: browsers would refuse it; order one without':
    '{saidWhat}：浏览器会拒绝；请申请不带此要求的证书',
  '{host} has two verifiers': '{host} 有两个验证方式',
  'must be given with a new address': '更换地址时必须一并给出',
  'must be a list of 1 to {most} hosts, or "*" for all sites':
    '必须是 1 至 {most} 个主机名的列表，或用 "*" 表示所有站点',
  'has one * at most, and only where the path ends with /*':
    '最多一个 *，且只能用于以 /* 结尾的路径',
  'is that of another entry': '与另一条目相同',
  'has the {what} of another entry': '与另一条目的 {what} 相同',
  'has no entries where the path is open': '路径开放时不能有条目',
  'has no entries where off': '关闭时不能有条目',
  'is empty where open': '开放时必须为空',
  'must be a name without a colon': '必须是不含冒号的名称',
  'must be an http or https URL without user and fragment':
    '必须是不带用户和片段的 http 或 https URL',
  'looks like a secret: set it on the pool, which never shows it':
    '看起来是机密：请在源站池上设置，源站池不会显示它',
  'must not be host: pools have it': '不能是 host：由源站池设置',
  'is one of requestFields': '已在 requestFields 中',
  'must be a path': '必须是路径',
  'is of no use where the field is removed': '移除字段时不起作用',
  'needs a time': '需要一个时间',
  'needs secure, httpOnly or sameSite': '需要 secure、httpOnly 或 sameSite',
  'needs secure to be NONE': '设为 NONE 时需要 secure',
  'must not be {name}: clientCertificates fills it': '不能是 {name}：由客户端证书设置填写',
  'needs caPem': '需要 caPem',
  'must hold PEM certificate revocation lists, nothing else': '只能包含 PEM 格式的证书吊销列表',
  'must hold PEM certificates of authorities, nothing else': '只能包含证书机构的 PEM 证书',
  'is no such name': '不是这样的名称',
  'must not begin with __Host, __Secure, __Http or __waf':
    '不能以 __Host、__Secure、__Http 或 __waf 开头',
  'needs a line {name}: (RFC 9116)': '需要 {name}: 一行（RFC 9116）',
  'is needed, unless the field is removed': '必填，除非删除该字段',
  'has names of letters, digits, _, . and -, and values of at most {count} characters':
    '名称只能包含字母、数字、_、. 和 -，值最多 {count} 个字符',
  '{name} reads {text}, as secrets are shown: send its value':
    '{name} 的值为 {text}，这是机密的显示形式：请发送真实的值',
  'reads {text}, as hashes are shown: send the hash':
    '值为 {text}，这是散列值的显示形式：请发送真实的散列值',
  'holds {name} twice, in different case': '重复包含 {name}（仅大小写不同）',
  'has values of at most {count} characters': '值最多 {count} 个字符',
  'holds a Host that is no host name': '包含的 Host 不是主机名',
  'must name at most {count} hosts': '最多指定 {count} 个主机名',
  'must name hosts in lower case': '主机名必须为小写',
  'must be a host name in lower case, or "" for none': '必须是小写主机名，或用 "" 表示无',
  'may use only {list}': '只能使用 {list}',
  'must be waf.io/v1': '必须是 waf.io/v1',
  'must be SiteConfiguration': '必须是 SiteConfiguration',
  'is required: the site and its routes name it': '必填：站点及其路由引用它',
  'must be a JSON object of choices by site id, or * for all sites':
    '必须是以站点标识（或表示所有站点的 *）为键的 JSON 对象',
  'names at most {count} sites': '最多指定 {count} 个站点',
  'must name applications, such as {example}: {list}': '必须是应用，例如 {example}：{list}',
  'needs tls.mode TLS_MODE_UPLOADED': '需要使用自有证书（TLS_MODE_UPLOADED）',
  'site.tls.certId: the certificate does not cover {host}': '该证书不包含 {host}',
  'site.tls.mode: a managed certificate for the wildcard {host} needs DNS-01, and no active DNS provider answers for its zone':
    '通配符 {host} 的托管证书需要 DNS-01，但没有已启用的 DNS 提供方负责其区域',
  'routing.unmatchedAction: paths without a route go to the upstream of the site, and it has none: give the site an upstream, or use UNMATCHED_PATH_ACTION_RETURN_404':
    '没有路由的路径会转发到站点的源站，但站点没有源站：请设置源站，或对未匹配的路径返回 404',
  'must be an id that the service gave; leave it out for a new':
    '必须是服务给出的标识；新建时请省略',
  'is no name of a field': '不是字段名称',
  'is for inline endpoints: a pool has its own': '仅用于直接填写的地址：源站池有自己的设置',
  'must be that of the other endpoints': '必须与其他地址相同',
  'is for https endpoints; these are http': '仅用于 https 地址；此处为 http',
  'excludes caPem: nothing would be checked against it':
    '不能与 caPem 同时使用：不会用它做任何检查',
  'must not be above intervalSeconds': '不得大于 intervalSeconds',
  'holds a name or value that HTTP cannot carry': '包含 HTTP 无法传输的名称或值',
  'acknowledgeUnverified: the suggestion is not verified; set this field to apply it anyway':
    '该建议未经验证；如仍要应用，请勾选确认',
  'must be KEEP_SUGGESTED, REPLACE or DROP': '必须是 KEEP_SUGGESTED、REPLACE 或 DROP',
  'goes with REPLACE, which needs at least one': '仅用于 REPLACE，且至少需要一个',
  '{field}: {said} (and {count} more; see the details)': '{field}：{said}（另有 {count} 项）',
  // Logs, evidence and export.
  'currentKeyId: another key is in use by now; list the keys': '当前密钥已更换；请重新列出密钥',
  '{count} earlier keys are kept, the most; the oldest is removed after {day}.':
    '已保留 {count} 个旧密钥，达到上限；最旧的在 {day} 之后删除。',
  'is required where requestId is empty': '未指定 requestId 时必填',
  'is required; SECURITY_EVENT_OUTCOME_ANY for every event':
    '必填；所有事件请用 SECURITY_EVENT_OUTCOME_ANY',
  'must not lie past the end of the body': '不能超出正文末尾',
  'must be 0 for the standard, or {least} to {most} bytes':
    '必须是 0（默认值）或 {least} 至 {most} 字节',
  'must be true, because {risks}; that can fill the disk':
    '必须为 true，因为 {risks}；这可能占满磁盘',
  'the form {form} takes {list} events only': '格式 {form} 只接受 {list} 事件',
  'is for the form audit only': '仅用于格式 audit',
  'is for the transport tls only': '仅用于 tls 传输',
  'goes together with clientCertPem: give both': '须与 clientCertPem 同时给出',
  'names one event twice': '同一事件重复出现',
};
