/**
 * Refusals about API documents, what they check, and controls of bodies, with their
 * Chinese. `{name}` stands for a value, `{said}` for a refusal of its own. Loaded where the console
 * is shown in Chinese.
 */

/** Chinese texts by the refusal. */
export const documentRefusals: Readonly<Record<string, string>> = {
  // API documents and the catalog of an API.
  'Too many API documents are being read: try again in a minute.':
    '正在读取的 API 文档过多：请一分钟后再试。',
  'source: takes too long or too much memory to read: split the document':
    '读取耗时过长或占用内存过多：请拆分文档',
  'may hold {list} and nothing else': '只能包含 {list}',
  'assetId: documents of the version in use have no place for its method':
    '所用版本的文档无法描述此方法',
  'is for the action rollback only': '仅用于回滚操作',
  'action: the site has no API declaration in use': '该站点没有使用中的 API 声明',
  'contractId: is not the declaration in use': '不是使用中的声明',
  'and undeclaredAction are not for the action deactivate': '与 undeclaredAction 不能用于停用操作',
  'is for the action activate only: rollback names an intent': '仅用于启用操作：回滚请指定一次变更',
  'must be activate, deactivate or rollback': '必须是 activate、deactivate 或 rollback',
  'must be empty, allow, observe or block': '必须是 allow、observe 或 block，或为空',
  'must be a binding of this declaration': '必须是此声明的绑定',
  'is required for a rollback': '回滚时必填',
  'names no operation of the preview': '不是预览中的操作',
  'the operation {key} may be several catalog entries: decide which one':
    '操作 {key} 可能对应多个目录条目：请指定其一',
  'two operations have the catalog entry {id}': '两个操作使用了同一目录条目 {id}',
  'needs either assetId or createNew': '需要 assetId 或 createNew 之一',
  'must be a candidate of the preview': '必须是预览中的候选',
  'must be other candidates of the preview': '必须是预览中的其他候选',
  'names no scope of the preview': '不是预览中的范围',
  'the scope {scope} needs a decision: partial or authoritative_complete':
    '范围 {scope} 需要决定：partial 或 authoritative_complete',
  'expectedContractId: another declaration is in use; read it again':
    '使用中的声明已是另一份；请重新读取',
  'excludes windowStart and windowEnd: send one of them':
    '不能与 windowStart 和 windowEnd 同时使用：请选择其一',
  'must be 0 with lookbackSeconds': '使用 lookbackSeconds 时必须为 0',
  'needs the window that was returned before': '需要此前返回的时间窗口',
  'send windowStart and windowEnd, or lookbackSeconds':
    '请发送 windowStart 与 windowEnd，或 lookbackSeconds',
  'must be after windowStart': '必须晚于 windowStart',
  'needs offset and pageSize 0': '偏移和每页数量必须为 0',
  'is required with details': '查看详情时必填',
  'must be 1 with details': '查看详情时必须为 1',
  'must be false with details': '查看详情时必须为 false',
  'must be empty: all samples that are kept come at once': '必须为空：保留的样本会一次全部返回',
  'contractId: the site uses no contract; name one': '该站点未使用声明；请指定一个',
  'No contract with this id on this site.': '该站点没有此标识的声明。',
  'fingerprint: nothing kept of this contract has it.': '此声明保留的记录中没有该指纹。',
  'assetId: the document in use has this operation for other hosts; learning never overwrites it: export it':
    '使用中的文档在其他主机上有此操作；学习不会覆盖它：请导出',
  'assetId: the document in use says what the body of this operation is; learning never overwrites it: export it':
    '使用中的文档已描述此操作的请求体；学习不会覆盖它：请导出',
  'expectedRevision: learning was changed since; read it again':
    '学习设置在此期间已更改；请重新读取',
  'stops learning, too: leave enabled false': '也会停止学习：请将 enabled 保持为 false',
  'assetId: only endpoints of {methods} learn': '只有 {methods} 接口可学习',
  'assetId: requests cannot be told by this path': '无法按此路径区分请求',
  'the site has as many assets as may be': '该站点的资产数已达上限',
  'must be an exact name: name each API host of a wildcard':
    '必须是确切名称：请逐个写出通配符下的 API 主机',
  'must be empty, or begin with a slash and not end with one, without parameters':
    '必须为空，或以斜杠开头、不以斜杠结尾且不含参数',
  'must be a profile of the document of the declaration': '必须是该声明文档的配置',
  'is required: to publish the declaration alone, name no binding':
    '必填：如只发布声明，请勿指定绑定',
  'is no operation of the declaration': '不是该声明中的操作',
  'is no operation of the profile': '不是该配置中的操作',
  'has nothing to check': '没有可检查的内容',
  'acceptPartial: {count} operations are checked in part, the first is {first}; read the report of the profile, then accept it or leave them out':
    '{count} 个操作只能部分检查，首个为 {first}；请阅读该配置的报告，然后接受或排除这些操作',
  'must be operations or diagnostics': '必须是 operations 或 diagnostics',
  'expectedDraftSourceId: another draft was staged since; read the request document again':
    '在此期间已有另一草稿；请重新读取请求文档',
  'expectedAssetRevision: the asset changed since; read it again':
    '该资产在此期间已更改；请重新读取',
  'expected_revision: the asset changed since; read it again': '该资产在此期间已更改；请重新读取',
  'assetId: is not in the declaration in use': '不在使用中的声明内',
  'assetId: is in the declaration in use already': '已在使用中的声明内',
  'must be add or remove': '必须是 add 或 remove',
  'A site keeps at most {most} reports; all are in use.':
    '每个站点最多保留 {most} 份报告，均在使用中。',
  'must be the revision that you read, a text of digits': '必须是读取时的修订版，由数字组成',
  'action: the catalog has the asset; remove it by StageApiCatalogChange first':
    '该资产已在目录中；请先将其移出目录',
  'action: is reserved': '该操作为保留操作',
  'confirm is no longer supported': '不再支持 confirm',
  'client has a ranking (topk) only: addresses have no series':
    '客户端只有排名（topk）：地址没有时间序列',
  // What is learned of parameters.
  'id: the value already holds {family} as content, and one family of a value is the most; dismiss that first, or exclude the rules with waf rule exclude':
    '该值已将 {family} 作为正常内容，每个值最多一类；请先撤销它，或改用规则排除项',
  // Controls of bodies.
  'approval.{name}: is not what is there now; preview again and review it':
    '{name} 与现状不符；请重新预览并查看',
  'approval: was used before; each publication needs its own preview':
    '此次批准已使用过；每次发布都需要单独预览',
  'is for the action rollback_effective only': '仅用于操作 rollback_effective',
  'must be discard_candidate, remove_effective or rollback_effective':
    '必须是 discard_candidate、remove_effective 或 rollback_effective',
  'is required for the action rollback_effective': '操作 rollback_effective 必填',
  'is not where the body control in effect was first approved':
    '不是生效中的请求体控制最初获批之处',
  'its body control is in effect now': '其请求体控制正在生效',
  'apiAssetId: is not in the catalog: add it by StageApiCatalogChange or a document first':
    '不在目录中：请先加入目录或通过文档添加',
  'must be empty, or the one that a preview gave': '必须为空，或为预览给出的值',
  'draft.specRevision: names another content: leave it empty': '对应另一内容：请留空',
  'must be empty, off, observe or enforce': '必须是 off、observe 或 enforce，或为空',
  'apiAssetId: a site has body controls for {count} endpoints':
    '每个站点最多 {count} 个接口有请求体控制',
  'needs intentId': '需要 intentId',
  'configRevisionId: no configuration of this id carried the intent.':
    '没有此标识的配置包含该变更。',
  'No intent with this id on this site.': '该站点没有此标识的变更。',
  'sourceIntentId: is the one that is wanted already': '已是当前期望的变更',
  'sourceIntentId: no node has applied this intent, so that it is not restored':
    '没有节点应用过此变更，因此不予恢复',
  'the {what} of these controls is not kept any more': '这些控制的 {what} 已不再保留',
  'sourceIntentId: these controls are wanted already': '已是当前期望的控制',
  'sourceConfigRevisionId: did not carry the intent': '未包含该变更',
  'sourceConfigRevisionId: was not applied by all nodes that the intent required':
    '该变更要求的节点未全部应用它',
  'must be the site of the request': '必须是请求中的站点',
  'must be complete: schema (null) and bodies (a list)':
    '必须完整：schema（null）与 bodies（列表）',
  'snapshotJson: populated slots are not supported here; publish them by ChangeSchemaControl and ApplyBodyControl':
    '此处不支持非空内容；请通过 API 声明和请求体控制发布',
  'must be empty: the action {action} takes no body input':
    '必须为空：操作 {action} 不需要请求体设置',
  'must be enforce for the action inherit; a candidate is discarded by PreviewBodyChange':
    '操作 inherit 时必须为 enforce；候选请在请求体控制中丢弃',
  'needs the family multipart': '需要 multipart 类型',
  'is required for the profile custom': '自定义配置必填',
  'must be empty or {profile}: use profile custom': '必须为空或 {profile}：请使用自定义配置',
  'must name the endpoint as the catalog does: format, method, host and path':
    '必须按目录的写法指明接口：格式、方法、主机和路径',
  "takes {list}; capacity comes from the site's policy": '可用 {list}；容量由站点的策略决定',
  'must be waf.upload_requirements.v1': '必须是 waf.upload_requirements.v1',
  'must not be above maxFiles': '不得大于 maxFiles',
  'must not be longer than {count} bytes': '不得超过 {count} 字节',
  // Patterns, paths and documents.
  'nests groups deeper than {count} levels': '分组嵌套超过 {count} 层',
  'repeats more than {count} times': '重复次数超过 {count}',
  'grows to {size} parts when its counts are written out; at most {count}':
    '展开计数后有 {size} 个部分；最多 {count} 个',
  'has more than {count} characters': '超过 {count} 个字符',
  'is not a pattern that RE2 takes': '不是 RE2 支持的正则表达式',
  'looks around, which takes time that is not linear': '使用环视，其耗时不是线性的',
  'asks for a place inside a word': '使用了单词内部的位置断言',
  'refers back to a group': '使用了反向引用',
  'holds an escape that ECMA-262 does not have': '含有 ECMA-262 没有的转义',
  'holds an escape without its digits': '含有缺少数字的转义',
  'names a Unicode property that is not known': '含有未知的 Unicode 属性',
  'has a class without an end': '字符类没有结尾',
  'ends within an escape or a class': '在转义或字符类中结束',
  'holds half of a character': '含有不完整的字符',
  'has more than {count} segments': '超过 {count} 段',
  'has an empty segment': '含有空段',
  'has a query or a fragment': '含有查询或片段',
  'has two parameters side by side: where one ends cannot be told':
    '两个参数相邻：无法判断前者的结尾',
  'names a parameter twice': '参数重复',
  'has a brace without its other half': '花括号不成对',
  'has an escape that is none': '含有无效的转义',
  'has a segment that routing takes away': '含有路由会去除的段',
  'refers outside of the document: it is not fetched': '引用文档之外的内容：不会获取',
  'is no reference': '不是引用',
  'is a reference that leads back to itself': '是循环引用',
  'is no OpenAPI 3.0, 3.1 or 3.2 and no Swagger 2.0 document':
    '不是 OpenAPI 3.0、3.1、3.2 或 Swagger 2.0 文档',
  'source:1:1: is no OpenAPI 3.0, 3.1 or 3.2 and no Swagger 2.0 document':
    '不是 OpenAPI 3.0、3.1、3.2 或 Swagger 2.0 文档',
  'does not follow the specification of OpenAPI': '不符合 OpenAPI 规范',
  'does not follow the specification of OpenAPI ({keyword})': '不符合 OpenAPI 规范（{keyword}）',
  'The checks of this document are too large: split the document.':
    '该文档的检查过大：请拆分文档。',
  'source:{line}:{column}: is not valid JSON at line {again}: {said}':
    '第 {line} 行第 {column} 列：JSON 无效（第 {again} 行）：{said}',
  'document {number}: is not valid YAML at line {line}: {said}':
    '第 {number} 个文档：第 {line} 行的 YAML 无效：{said}',
  'document {number}: is not valid YAML at line {line}: {problem}':
    '第 {number} 个文档：第 {line} 行的 YAML 无效：{problem}',
  'must hold one mapping, in JSON or YAML': '必须是一个 JSON 或 YAML 映射',
  'has something after its end': '结尾之后还有内容',
  'is nested deeper than {count} levels': '嵌套超过 {count} 层',
  'ends too early': '提前结束',
  'a value must stand here': '此处应为值',
  'holds a number that is not finite': '含有非有限的数字',
  'a text has no end, or holds what must be escaped': '文本没有结尾，或含有必须转义的字符',
  'a text holds half of a character': '文本含有不完整的字符',
  'a name in quotes must stand here': '此处应为带引号的名称',
  'a name has more than {count} characters': '名称超过 {count} 个字符',
  'the name {name} comes twice': '名称 {name} 重复',
  'a colon must stand here': '此处应为冒号',
  'a comma or {end} must stand here': '此处应为逗号或 {end}',
  'the tag {tag} is not read': '不支持标签 {tag}',
  'an alias stands inside its own anchor': '别名位于其自身的锚点之内',
  'aliases repeat more than {count} values': '别名重复的值超过 {count} 个',
  '{text} without quotes is an alias of YAML, and no anchor has this name':
    '不带引号的 {text} 是 YAML 别名，但没有此名称的锚点',
  'a key must be text': '键必须是文本',
  'a key has more than {count} characters': '键超过 {count} 个字符',
  'the key {name} comes twice': '键 {name} 重复',
  'holds more than {count} tokens': '超过 {count} 个词法单元',
  'holds more than {count} keys': '超过 {count} 个键',
  'holds more than {count} aliases': '超过 {count} 个别名',
  'has more than {count} documents': '超过 {count} 个文档',
  'holds a directive: only %YAML 1.2 is read': '含有指令：只支持 %YAML 1.2',
};
