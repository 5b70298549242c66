/** How the address of a client is decided: ways of requests, then headers in their order. */

import type { JSX } from 'preact';
import type { IpList } from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import type { ClientIPRule, TrustNode, TrustProfile } from '../../../proto/gen/waf/v1/trust_pb.ts';
import { Card } from '../parts/panel.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { exactNumber, pageTexts } from '../text/text.ts';
import { waysOf } from './trust-ways.ts';

const w = pageTexts({
  title: ['How the client is decided', '如何确定客户端'],
  ways: ['Ways of requests', '请求路径'],
  internet: ['Internet', '互联网'],
  addresses: ['Addresses in {list}: {count}', '{list} 中的地址：{count}'],
  direct: ['No proxy is trusted.', '没有受信代理。'],
  order: ['What counts, the first that holds', '以首个成立的为准'],
  header: ['{name} names the client: {which}.', '由 {name} 表示客户端：{which}。'],
  verified: [
    'Each proxy of a way through {proxies} has to be found in its place.',
    '经过 {proxies} 的路径上，每个代理都须在其位置上。',
  ],
  untrusted: ['It counts although no proxy is found.', '即使未识别到代理也采用。'],
  peer: ['The address that connects.', '连接地址。'],
  firstUntrusted: ['the last address that is no proxy', '最后一个非代理地址'],
  single: ['its only address', '唯一的地址'],
  leftmost: ['its first address', '第一个地址'],
  rightmost: ['its last address', '最后一个地址'],
  fromLeft: ['address {place} from the left', '左起第 {place} 个地址'],
  fromRight: ['address {place} from the right', '右起第 {place} 个地址'],
});

interface DrawingProps {
  readonly profile: TrustProfile;
  readonly lists: readonly IpList[];
}

/** The drawing of the profile that holds. */
export function TrustDrawing({ profile, lists }: DrawingProps): JSX.Element {
  const { nodes, edges, extractionRules } = profile;
  const ways = waysOf(edges).filter((way) => way.length > 0);
  const rules = extractionRules.filter(({ enabled }) => enabled);
  return (
    <Card title={w('title')}>
      <h3>{w('ways')}</h3>
      {ways.length === 0 && <p class="quiet">{w('direct')}</p>}
      {(ways.length === 0 ? [[]] : ways).map((way) => (
        <ol class="way">
          <li>{w('internet')}</li>
          {way.map((id) => (
            <li>
              <Proxy node={nodes.find((node) => node.id === id)} id={id} lists={lists} />
            </li>
          ))}
          <li>waf</li>
        </ol>
      ))}
      <h3>{w('order')}</h3>
      <ol>
        {rules.map((rule) => (
          <li>
            <VisibleText text={sentenceOf(rule, nodes)} />
          </li>
        ))}
        {!rules.some(takesPeer) && <li>{w('peer')}</li>}
      </ol>
    </Card>
  );
}

/** A proxy with the lists that hold its addresses. */
function Proxy({
  node,
  id,
  lists,
}: {
  readonly node: TrustNode | undefined;
  readonly id: string;
  readonly lists: readonly IpList[];
}): JSX.Element {
  const held = (node?.trust?.ipListIds ?? []).map((listId) => {
    const list = lists.find((one) => one.id === listId);
    return w('addresses', {
      list: list?.name ?? listId,
      count: exactNumber(list?.entryCount ?? 0),
    });
  });
  return (
    <>
      <VisibleText text={node?.name || id} />
      {held.map((text) => (
        <small>
          <VisibleText text={text} />
        </small>
      ))}
    </>
  );
}

const takesPeer = ({ parser }: ClientIPRule): boolean => parser === 'remote_addr';

function sentenceOf(rule: ClientIPRule, nodes: readonly TrustNode[]): string {
  if (takesPeer(rule)) return w('peer');
  const names = rule.nodeIds.map((id) => nodes.find((node) => node.id === id)?.name || id);
  return [
    w('header', { name: rule.header, which: choiceOf(rule) }),
    rule.allowUntrusted ? w('untrusted') : w('verified', { proxies: names.join(', ') }),
  ].join(' ');
}

/** Which address of its header a rule takes. */
function choiceOf({ selector, position, positionFrom, parser }: ClientIPRule): string {
  if (parser === 'single_ip' || selector === 'single') return w('single');
  if (selector === 'position') {
    return w(positionFrom === 'right' ? 'fromRight' : 'fromLeft', { place: position });
  }
  if (selector === 'leftmost' || selector === 'rightmost') return w(selector);
  return w('firstUntrusted');
}
