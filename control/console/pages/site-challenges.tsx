/** Challenges of a site: who has to prove a browser or a person, and how long the proof lasts. */

import { createClient } from '@connectrpc/connect';
import { create } from '@bufbuild/protobuf';
import type { JSX } from 'preact';
import { IpListService, type IpList } from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import {
  BotProtectionConfigSchema,
  BotProtectionMode,
  type BotProtectionConfig,
  type Site,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import { useCall } from '../call.ts';
import { partsOf, type Field, type Values } from '../parts/edit.tsx';
import { allItems } from '../parts/list.tsx';
import { Card } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';
import { SiteEdit, type ShownSite } from './site-form.tsx';

const lists = createClient(IpListService, transport);

const w = pageTexts({
  title: ['Challenges', '人机验证'],
  note: [
    'A client without a pass gets a page that its browser, or a person, has to answer first.',
    '没有通行证的客户端须先由浏览器或访问者完成验证页面。',
  ],
  mode: ['Ask for', '要求'],
  off: ['Nothing', '不要求'],
  browser: ['A browser', '浏览器'],
  human: ['A person', '真人'],
  ttl: ['Seconds to answer, 30 to 600', '作答秒数，30 到 600'],
  clearance: ['Seconds that a pass lasts, 300 to 86400', '通行证有效秒数，300 到 86400'],
  difficulty: ['Work of a browser in bits, 12 to 24', '浏览器计算难度（位），12 到 24'],
  bind: ['A pass holds for one network only', '通行证仅对同一网络有效'],
  crawlers: ['Search engines are asked, too', '搜索引擎也需验证'],
  trusted: ['Addresses that are never asked', '无需验证的地址'],
  nobody: ['None', '无'],
  further: ['and those of {names}, which stay', '另有 {names}，保持不变'],
  paths: ['Only these paths, one a line', '仅以下路径，每行一个'],
  exempt: ['Paths that are never asked, one a line', '无需验证的路径，每行一个'],
  methods: ['Methods that are never asked', '无需验证的方法'],
});

const fieldNames = [
  ...['mode', 'challengeTtlSeconds', 'clearanceTtlSeconds', 'proofDifficulty', 'bindNetwork'],
  ...['exemptPaths', 'trustedIpListIds', 'exemptMethods', 'challengeCrawlers', 'challengePaths'],
];

/** The view. */
export function SiteChallenges({ of }: { readonly of: ShownSite }): JSX.Element {
  const known = useCall('lists', (signal) =>
    allItems((page) => lists.listIpLists({ page }, { signal })),
  );
  return (
    <State of={known}>
      {(items) => (
        <Card title={w('title')} note={w('note')}>
          <SiteEdit
            of={of}
            label={w('title')}
            mask={fieldNames.map((name) => `botProtection.${name}`)}
            fields={(site) => challengeFields(challengesOf(site), items)}
            apply={(site, values) => ({ ...site, botProtection: entered(site, values) })}
          />
        </Card>
      )}
    </State>
  );
}

const challengesOf = ({ botProtection }: Site): BotProtectionConfig =>
  botProtection ?? create(BotProtectionConfigSchema);

const on = (set: boolean): string => (set ? 'on' : '');

function challengeFields(bot: BotProtectionConfig, known: readonly IpList[]): Field[] {
  const nameOf = (id: string): string => known.find((one) => one.id === id)?.name ?? id;
  const further = bot.trustedIpListIds.slice(1).map(nameOf);
  return [
    {
      name: 'mode',
      label: w('mode'),
      value: String(bot.mode || BotProtectionMode.OFF),
      choices: [
        [String(BotProtectionMode.OFF), w('off')],
        [String(BotProtectionMode.BROWSER_CHECK), w('browser')],
        [String(BotProtectionMode.HUMAN_VERIFICATION), w('human')],
      ],
    },
    number('ttl', bot.challengeTtlSeconds || 120),
    number('clearance', bot.clearanceTtlSeconds || 3600),
    number('difficulty', bot.proofDifficulty || 16),
    { name: 'bind', label: w('bind'), kind: 'check', value: on(bot.bindNetwork) },
    { name: 'crawlers', label: w('crawlers'), kind: 'check', value: on(bot.challengeCrawlers) },
    {
      name: 'trusted',
      api: ['trustedIpListIds'],
      label: w('trusted'),
      value: bot.trustedIpListIds[0] ?? '',
      choices: [['', w('nobody')], ...known.map(({ id, name }) => [id, name] as const)],
      ...(further.length > 0 && { hint: w('further', { names: further.join(', ') }) }),
    },
    {
      name: 'methods',
      api: ['exemptMethods'],
      label: w('methods'),
      value: bot.exemptMethods.join(', '),
    },
    {
      name: 'paths',
      api: ['challengePaths'],
      label: w('paths'),
      kind: 'area',
      value: bot.challengePaths.join('\n'),
    },
    {
      name: 'exempt',
      api: ['exemptPaths'],
      label: w('exempt'),
      kind: 'area',
      value: bot.exemptPaths.join('\n'),
    },
  ];
}

const number = (name: 'ttl' | 'clearance' | 'difficulty', value: number): Field => ({
  name,
  label: w(name),
  kind: 'number',
  value: String(value),
  required: true,
});

/** What was entered; lists after the first, which the form only names, stay. */
function entered(site: Site, values: Values): BotProtectionConfig {
  const before = challengesOf(site);
  const trusted = values['trusted'] ?? '';
  const further = before.trustedIpListIds.slice(1).filter((id) => id !== trusted);
  return {
    ...before,
    mode: Number(values['mode']) as BotProtectionMode,
    challengeTtlSeconds: Number(values['ttl']),
    clearanceTtlSeconds: Number(values['clearance']),
    proofDifficulty: Number(values['difficulty']),
    bindNetwork: values['bind'] === 'on',
    challengeCrawlers: values['crawlers'] === 'on',
    trustedIpListIds: trusted === '' ? further : [trusted, ...further],
    exemptMethods: partsOf(values['methods']).map((method) => method.toUpperCase()),
    challengePaths: partsOf(values['paths']),
    exemptPaths: partsOf(values['exempt']),
  };
}
