/**
 * Sentences of the API about what runs, with their Chinese: health, deployment, alerts, fetches,
 * proxies and logs. `{name}` stands for a value. Loaded where the console is shown in Chinese.
 */

/** Chinese texts by the sentence of the API. */
export const operationSentences: Readonly<Record<string, string>> = {
  // Health.
  'the local engine is not connected': '本机引擎未连接',
  'the newest configuration is not applied yet': '最新配置尚未生效',
  'no node is connected': '没有节点连接',
  'events, evidence and traffic counts stay with the controller that their node is connected to; set WAF_EVENTS_CLICKHOUSE at every controller to have events in one place':
    '事件、证据和流量计数留在其节点所连接的控制器上；在每个控制器上设置 WAF_EVENTS_CLICKHOUSE，可将事件集中存放',
  'evidence and traffic counts stay with the controller that their node is connected to':
    '证据和流量计数留在其节点所连接的控制器上',
  // Deployment, origins and overload.
  'the node has not confirmed the change yet': '节点尚未确认此更改',
  'no node is connected; it gets the change when it connects':
    '没有节点连接；节点连接后会收到此更改',
  '{url} of pool {pool} on node {node}: {saidWhy}':
    '源站池 {pool} 的 {url}（节点 {node}）：{saidWhy}',
  '{url} of site {site} on node {node}: {saidWhy}':
    '站点 {site} 的 {url}（节点 {node}）：{saidWhy}',
  '{url} of pool {pool}: {saidWhy}': '源站池 {pool} 的 {url}：{saidWhy}',
  '{url} of site {site}: {saidWhy}': '站点 {site} 的 {url}：{saidWhy}',
  'its probe fails': '健康检查失败',
  'and {count} more': '另有 {count} 项',
  // Why an origin does not answer.
  '{said} ({count} failures)': '{said}（失败 {count} 次）',
  'the address is unknown, unreachable or refuses connections': '地址未知、不可达或拒绝连接',
  'the TLS handshake failed: does the origin speak TLS on this port?':
    'TLS 握手失败：源站在此端口使用 TLS 吗？',
  'TLS: the certificate is of an unknown authority; give the pool its CA certificate':
    'TLS：证书由未知机构签发；请为源站池设置其 CA 证书',
  'TLS: the certificate is expired or not yet valid': 'TLS：证书已过期或尚未生效',
  'TLS: the certificate is for another name; set the server name of the pool':
    'TLS：证书属于其他名称；请设置源站池的服务器名称',
  'no connection in time': '未能及时建立连接',
  'too many requests wait for a connection': '等待连接的请求过多',
  'there is no address to ask': '没有可用的地址',
  'a kept connection was closed': '保持的连接已被关闭',
  'the connection was closed before the answer was complete': '应答完成前连接已被关闭',
  'the answer is no valid HTTP/1.x': '应答不是有效的 HTTP/1.x',
  'no answer in time': '未能及时应答',
  'the answer stopped in the middle': '应答中途停止',
  'the probe got status {status} instead of {expected}':
    '健康检查得到状态码 {status}，应为 {expected}',
  'the answer to the probe lacks the expected text': '健康检查的应答缺少预期文本',
  'node {node} is overloaded: {percent} percent of requests are inspected, the others follow the fail policy of their site':
    '节点 {node} 过载：{percent}% 的请求经过检测，其余按其站点的故障策略处理',
  '{target}: {reason} ({count} events lost)': '{target}：{reason}（丢失 {count} 个事件）',
  // Why a request is in the log of errors.
  'No valid answer from the origin ({reason}).': '源站没有给出有效应答（{reason}）。',
  'The request was refused ({reason}).': '请求被拒绝（{reason}）。',
  'The node is overloaded and did not inspect the request; it got 503.':
    '节点过载，未检测该请求；已返回 503。',
  "The site's policy does not serve yet, or does not compile; the request got 503.":
    '站点的策略尚未生效或无法编译；已返回 503。',
  'The node is overloaded; the fail policy let the request through without inspection.':
    '节点过载；按故障策略未经检测放行了该请求。',
  "The site's policy does not serve yet, or does not compile; the fail policy let the request through without inspection.":
    '站点的策略尚未生效或无法编译；按故障策略未经检测放行了该请求。',
  'Inspection failed ({reason}); the request got 503.': '检测失败（{reason}）；已返回 503。',
  'Inspection failed ({reason}); the fail policy let the request through.':
    '检测失败（{reason}）；按故障策略放行了该请求。',
  'Inspection failed ({reason}) after the request was refused.':
    '请求被拒绝后检测失败（{reason}）。',
  'The request was not inspected whole ({found}).': '该请求未能完整检测（{found}）。',
  // What an alert tells.
  '{count} security events in {seconds} s for all sites; the threshold is {threshold}.':
    '所有站点在 {seconds} 秒内发生 {count} 个安全事件，阈值为 {threshold}。',
  '{count} security events in {seconds} s for requests without a site; the threshold is {threshold}.':
    '不属于任何站点的请求在 {seconds} 秒内发生 {count} 个安全事件，阈值为 {threshold}。',
  '{count} security events in {seconds} s for {subject}; the threshold is {threshold}.':
    '{subject} 在 {seconds} 秒内发生 {count} 个安全事件，阈值为 {threshold}。',
  'Node {name} is offline. Last seen: {time}.': '节点 {name} 离线，最后在线时间：{time}。',
  'Node {name} is online and does not serve the latest configuration.':
    '节点 {name} 在线，但未应用最新配置。',
  'Node {name} refused configuration {revision}: {error}':
    '节点 {name} 拒绝了配置 {revision}：{error}',
  'Certificate {name} ends at {time}; days left: {days}.':
    '证书 {name} 将于 {time} 到期，剩余 {days} 天。',
  'Origin {name} fails its health check. {saidWhy}': '源站 {name} 健康检查失败。{saidWhy}',
  'Origin {name} fails its health check. {why}': '源站 {name} 健康检查失败。{why}',
  'Origin {name} fails its health check.': '源站 {name} 健康检查失败。',
  'Log storage is warning: {count} bytes are free on its disk.':
    '日志存储状态为警告，磁盘剩余 {count} 字节。',
  'Log storage is critical: {count} bytes are free on its disk.':
    '日志存储状态为严重，磁盘剩余 {count} 字节。',
  'Ended at {time}: {saidWhy}. It was: {saidWhat}':
    '已于 {time} 结束（{saidWhy}）。原告警：{saidWhat}',
  'condition cleared': '条件已解除',
  operator: '由操作员处理',
  'rule changed': '规则已修改',
  'rule disabled': '规则已停用',
  'rule deleted': '规则已删除',
  'opened: {subject}': '告警产生：{subject}',
  '{rule}: all sites': '{rule}：所有站点',
  '{rule}: requests without a site': '{rule}：不属于任何站点的请求',
  '{rule}: warning': '{rule}：警告',
  '{rule}: critical': '{rule}：严重',
  // What the console writes as the reason of a change.
  'from request {id}': '来自请求 {id}',
  // How alerts went on.
  'the condition holds: it fires': '条件成立：触发告警',
  'the condition no longer holds': '条件不再成立',
  'resolved by an operator': '由操作员解决',
  'its rule was changed: what holds now opens a new alert':
    '其规则已更改：目前成立的条件会产生新告警',
  'its rule was disabled': '其规则已停用',
  'its rule was removed': '其规则已删除',
  'the cause persists: a new alert is opened': '原因仍然存在：产生新告警',
  'no {event} message: silence {id} is in force': '未发送 {event} 消息：静默 {id} 生效中',
  'no {event} message: no channel of its rule wants it':
    '未发送 {event} 消息：其规则没有通道需要它',
  'no {event} message through {channel}: too many wait for it':
    '未通过 {channel} 发送 {event} 消息：等待发送的过多',
  '{event} message sent through {channel}': '已通过 {channel} 发送 {event} 消息',
  '{event} message not sent through {channel}: {said}':
    '未能通过 {channel} 发送 {event} 消息：{said}',
  'the timeline is full: what the service does from here on is left out':
    '时间线已满：此后服务的操作不再记录',
  'the test message was accepted': '测试消息已被接受',
  // Why a message did not arrive.
  'its answer has no result code': '其应答没有结果代码',
  'it refused the message with code {code}': '它拒绝了消息，代码 {code}',
  'the channel was disabled': '该通道已停用',
  '{field} of the channel has no value; set it': '该通道的 {field} 没有值；请设置',
  'its name cannot be resolved': '无法解析其名称',
  'it does not accept the username and password': '它不接受该用户名和密码',
  'it offers no TLS that can be trusted': '它不提供可信的 TLS',
  'it refused the mail with code {code}': '它拒绝了邮件，代码 {code}',
  'its answer is too large': '其应答过大',
  'it answered with status {status}': '它应答状态码 {status}',
  'it refuses connections': '它拒绝连接',
  'it closed the connection': '它关闭了连接',
  'the connection to it failed': '与它的连接失败',
  'it cannot be reached': '无法连接到它',
  'it has no valid certificate for its name': '它没有对应其名称的有效证书',
  'it could not be sent to': '无法向它发送',
  'it leads to a loopback, link-local, private or reserved address; allow its network in the setting {setting}':
    '它指向回环、链路本地、私有或保留地址；请在设置 {setting} 中允许其网段',
  // Why a source could not be fetched.
  'the source took longer than {time}': '来源耗时超过 {time}',
  'the source answered with status {status}': '来源应答状态码 {status}',
  'the source redirects more than {count} times': '来源重定向超过 {count} 次',
  'the source redirects to something that is no URL': '来源重定向到的不是 URL',
  'the source redirects away from http(s)': '来源重定向到非 http(s) 地址',
  'the source was silent for {time}': '来源 {time} 内没有数据',
  'the name of the source cannot be resolved': '无法解析来源的名称',
  'the source leads to a loopback, link-local, private or reserved address, which is not allowed':
    '来源指向回环、链路本地、私有或保留地址，不允许访问',
  'the source sent more than {count} bytes': '来源的数据超过 {count} 字节',
  'the source uses a content coding that is not known': '来源使用未知的内容编码',
  'the source took too long': '来源耗时过长',
  'the source refuses connections': '来源拒绝连接',
  'the source closed the connection': '来源关闭了连接',
  'the source cannot be reached': '无法连接到来源',
  'the source ended its answer too early': '来源的应答提前结束',
  'the source sent damaged gzip data': '来源的 gzip 数据已损坏',
  'the source has no valid certificate for its name': '来源没有对应其名称的有效证书',
  'the source could not be fetched': '无法获取来源',
  'the source sent no file': '来源没有给出文件',
  'the digest of the source is no SHA-256 digest': '来源的摘要不是 SHA-256 摘要',
  'the file of the source does not have the published digest': '来源的文件与公布的摘要不符',
  'the file of the source is damaged, or larger than {count} bytes unpacked':
    '来源的文件已损坏，或解压后超过 {count} 字节',
  'the source has more than the {count} entries of a list': '来源的条目超过列表上限 {count}',
  'the source has more than the {count} entries that it may have':
    '来源的条目超过允许的 {count} 个',
  'the source has {after} entries, fewer than the {least} it must have':
    '来源有 {after} 个条目，少于要求的 {least} 个',
  'the update removes {removed} of {before} entries ({share}); more than {most} waits for approval':
    '此次更新会删除 {before} 个条目中的 {removed} 个（{share}）；超过 {most} 需等待批准',
  'the source is no CSV at record {at}': '来源的第 {at} 条记录不是 CSV',
  'the source sent more than {count} bytes of JSON': '来源的 JSON 超过 {count} 字节',
  'the source is no JSON': '来源不是 JSON',
  '{where} of the source yields too many values': '来源的 {where} 给出的值过多',
  '{where} of the source yields something other than text': '来源的 {where} 给出的不是文本',
  '{where} of the source is neither an address nor a network':
    '来源的 {where} 既不是地址也不是网段',
  '{where} cannot be followed in what the source sent': '在来源的数据中找不到 {where}',
  'line {line} of the source has more than {count} bytes': '来源的第 {line} 行超过 {count} 字节',
  'the update could not be stored; the log says more': '无法存储此次更新；详见日志',
  'the service was stopped during the fetch': '获取期间服务已停止',
  // The language model.
  'the model took longer than {seconds} seconds': '模型耗时超过 {seconds} 秒',
  'the connection to the model failed': '与模型的连接失败',
  "the model's provider answered with status {status}": '模型提供方应答状态码 {status}',
  'the model sent more than {count} bytes': '模型的应答超过 {count} 字节',
  'the model sent too long a line': '模型的应答中有一行过长',
  'the model did not answer in the OpenAI-compatible form': '模型未按 OpenAI 兼容格式应答',
  'the model {said}: set its key': '模型{said}：请设置其密钥',
  'the model answered with status {status}: set its key': '模型应答状态码 {status}：请设置其密钥',
  'the model answered with status {status}': '模型应答状态码 {status}',
  'the model refuses connections': '模型服务器拒绝连接',
  'the model closed the connection': '模型服务器关闭了连接',
  'the model cannot be reached': '无法连接到模型服务器',
  'the model took too long': '模型耗时过长',
  'the model has no valid certificate for its name': '模型服务器没有对应其名称的有效证书',
  'the name of the model cannot be resolved': '无法解析模型服务器的名称',
  'No request of the last day is retained whole: the rule was not tried on any.':
    '最近一天没有完整保留的请求：未试运行该规则。',
  'The rule lets through what is blocked now.': '该规则会放行目前被拦截的请求。',
  // Proxies before a site.
  'clients seem to connect directly': '客户端似乎直接连接',
  'one proxy seems to stand before the site': '站点之前似乎有一个代理',
  'several proxies seem to stand before the site': '站点之前似乎有多个代理',
  'too many senders write the header to list them; anyone could forge it':
    '写入该请求头的发送方过多，无法列出；任何人都可伪造它',
  '{name} is in some requests only': '只有部分请求带有 {name}',
  '{count} of {all} requests had {name}': '{all} 个请求中有 {count} 个带有 {name}',
  '{count} of {all} requests had {name} and signs of {product}':
    '{all} 个请求中有 {count} 个带有 {name} 及 {product} 的迹象',
  'Addresses of a trusted proxy, taken from an analysis of requests.':
    '可信代理的地址，取自对请求的分析。',
  'the node was deleted': '该节点已删除',
  // Policies of logs.
  'whole request bodies are kept': '会保留完整的请求体',
  'evidence is kept for every access row': '会为每条访问记录保留证据',
  'whole request bodies are kept of a site that overrides the policy':
    '覆盖此策略的某站点会保留完整的请求体',
  'evidence is kept for every access row of a site that overrides the policy':
    '覆盖此策略的某站点会为每条访问记录保留证据',
};
