/** What the score of detection says of a request: the piece, the points, and each decision. */

import type { JSX } from 'preact';
import type { SecurityMessage } from '../../../proto/gen/waf/v1/log_pb.ts';
import { Card } from '../parts/panel.tsx';
import { Table } from '../parts/table.tsx';
import { MarkedText, MessageText } from '../parts/visible-text.tsx';
import { pageTexts } from '../text/text.ts';
import { scoreOf, type Verdict } from './score-tags.ts';

const w = pageTexts({
  title: ['Score of detection', '检测评分'],
  piece: ['The piece that counts most', '得分最高的片段'],
  noPiece: ['It is not kept: this is one of many alike events.', '未保留：这是众多相似事件之一。'],
  inPart: [
    'The request was opened in part only: its whole score may be higher.',
    '仅解析了请求的一部分：完整评分可能更高。',
  ],
  ended: [
    'Enough values refuse the request: those after them were not searched.',
    '已有足够多的值可拦截该请求：其后的值未再检索。',
  ],
  points: ['Points', '分数'],
  sign: ['Sign', '依据'],
  confirmed: ['{id}, confirmed by a rule', '{id}，有规则佐证'],
  none: ['No sign gave points.', '没有得分依据。'],
  decisions: ['What each decision would have done', '各判定方式的结果'],
  decision: ['Decision', '判定方式'],
  result: ['Result', '结果'],
  inForce: ['{name} (in force)', '{name}（当前生效）'],
  crs: ['Anomaly score of the rules', '规则异常分'],
  score: ['Score of detection', '检测评分'],
  both: ['Either score', '任一评分'],
  scoreConfirms: ['Anomaly score that the other confirms', '经检测评分确认的异常分'],
  block: ['Blocked', '拦截'],
  pass: ['Let through', '放行'],
  weights: ['Points by version {version}.', '分数版本：{version}。'],
});

const nameOf = (decision: string): string =>
  decision === 'crs' || decision === 'score' || decision === 'both' || decision === 'scoreConfirms'
    ? w(decision)
    : decision;

/** The card; nothing for a request without a score. */
export function ScoreDecision({
  messages,
}: {
  readonly messages: readonly SecurityMessage[];
}): JSX.Element | null {
  const found = scoreOf(messages);
  if (found === null) return null;
  const { sentence, piece, marked, points, verdicts, decision, weights, inPart, ended } = found;
  const messageOf = (id: string): string =>
    messages.find(({ ruleId }) => ruleId === id)?.message ?? '';
  const shownName = ({ decision: one }: Verdict): string =>
    one === decision ? w('inForce', { name: nameOf(one) }) : nameOf(one);
  return (
    <Card title={w('title')}>
      <p>
        <strong>
          <MessageText text={sentence} />
        </strong>
      </p>
      {inPart && <p class="notice">{w('inPart')}</p>}
      {ended && <p class="notice">{w('ended')}</p>}
      <p>{w('piece')}</p>
      {piece === '' ? (
        <p class="quiet">{w('noPiece')}</p>
      ) : (
        <pre class="code">
          <MarkedText text={piece} spans={[marked]} />
        </pre>
      )}
      <Table
        label={w('points')}
        items={points}
        empty={w('none')}
        columns={[
          {
            title: w('sign'),
            by: ({ id }) => id,
            of: ({ id, rule }) => (
              <>
                {rule ? w('confirmed', { id }) : id}{' '}
                <small>
                  <MessageText text={messageOf(id)} />
                </small>
              </>
            ),
          },
          { title: w('points'), number: true, by: ({ value }) => value },
        ]}
      />
      <h3>{w('decisions')}</h3>
      <Table
        label={w('decisions')}
        items={verdicts}
        empty=""
        columns={[
          { title: w('decision'), of: shownName },
          {
            title: w('result'),
            of: ({ blocks }) => (
              <span class={blocks ? 'badge blocked' : 'badge'}>{w(blocks ? 'block' : 'pass')}</span>
            ),
          },
        ]}
      />
      <p class="quiet">{w('weights', { version: weights })}</p>
    </Card>
  );
}
