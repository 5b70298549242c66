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

/** What the form edits, by its name in the API, in order; the kind of a value shows how. */
const labels = {
  mode: ['Ask for', '要求'],
  challengeTtlSeconds: ['Seconds to answer, 30 to 600', '作答秒数，30 到 600'],
  clearanceTtlSeconds: ['Seconds that a pass lasts, 300 to 86400', '通行证有效秒数，300 到 86400'],
  proofDifficulty: ['Work of a browser in bits, 12 to 24', '浏览器计算难度（位），12 到 24'],
  bindNetwork: ['A pass holds for one network only', '通行证仅对同一网络有效'],
  challengeCrawlers: ['Search engines are asked, too', '搜索引擎也需验证'],
  trustedIpListIds: ['Addresses that are never asked', '无需验证的地址'],
  exemptMethods: ['Methods that are never asked', '无需验证的方法'],
  challengePaths: ['Only these paths, one a line', '仅以下路径，每行一个'],
  exemptPaths: ['Paths that are never asked, one a line', '无需验证的路径，每行一个'],
} as const;

type Setting = keyof typeof labels;
const settings = Object.keys(labels) as Setting[];

const w = pageTexts({
  ...labels,
  title: ['Challenges', '人机验证'],
  note: [
    'A client without a pass gets a page that its browser, or a person, has to answer first.',
    '没有通行证的客户端须先由浏览器或访问者完成验证页面。',
  ],
  off: ['Nothing', '不要求'],
  browser: ['A browser', '浏览器'],
  human: ['A person', '真人'],
  nobody: ['None', '无'],
  further: ['and those of {names}, which stay', '另有 {names}，保持不变'],
});

/** What holds where nothing is set. */
const standards: Partial<Record<Setting, number>> = {
  challengeTtlSeconds: 120,
  clearanceTtlSeconds: 3600,
  proofDifficulty: 16,
};

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
            mask={settings.map((name) => `botProtection.${name}`)}
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

const challengeFields = (bot: BotProtectionConfig, known: readonly IpList[]): Field[] =>
  settings.map((name) => ({ name, label: w(name), ...inputOf(name, bot, known) }));

type Input = Omit<Field, 'name' | 'label'>;

function inputOf(name: Setting, bot: BotProtectionConfig, known: readonly IpList[]): Input {
  if (name === 'mode') return modeInput(bot);
  if (name === 'trustedIpListIds') return trustedInput(bot, known);
  if (name === 'exemptMethods') return { value: bot.exemptMethods.join(', ') };
  const value = bot[name];
  if (typeof value === 'boolean') return { kind: 'check', value: value ? 'on' : '' };
  if (typeof value === 'number') {
    return { kind: 'number', value: String(value || standards[name]), required: true };
  }
  return { kind: 'area', value: value.join('\n') };
}

const modeInput = ({ mode }: BotProtectionConfig): Input => ({
  value: String(mode || BotProtectionMode.OFF),
  choices: [
    [String(BotProtectionMode.OFF), w('off')],
    [String(BotProtectionMode.BROWSER_CHECK), w('browser')],
    [String(BotProtectionMode.HUMAN_VERIFICATION), w('human')],
  ],
});

function trustedInput({ trustedIpListIds }: BotProtectionConfig, known: readonly IpList[]): Input {
  const nameOf = (id: string): string => known.find((one) => one.id === id)?.name ?? id;
  const further = trustedIpListIds.slice(1).map(nameOf);
  return {
    value: trustedIpListIds[0] ?? '',
    choices: [['', w('nobody')], ...known.map(({ id, name }) => [id, name] as const)],
    ...(further.length > 0 && { hint: w('further', { names: further.join(', ') }) }),
  };
}

/** What was entered; what the form does not show stays. */
function entered(site: Site, values: Values): BotProtectionConfig {
  const before = challengesOf(site);
  const after = settings.map((name) => [name, enteredIn(name, before, values[name] ?? '')]);
  return { ...before, ...(Object.fromEntries(after) as Pick<BotProtectionConfig, Setting>) };
}

function enteredIn(name: Setting, before: BotProtectionConfig, text: string): unknown {
  if (name === 'trustedIpListIds') {
    // Those after the first are only named.
    const further = before.trustedIpListIds.slice(1).filter((id) => id !== text);
    return text === '' ? further : [text, ...further];
  }
  if (name === 'exemptMethods') return partsOf(text).map((method) => method.toUpperCase());
  const was = before[name];
  if (typeof was === 'boolean') return text === 'on';
  return typeof was === 'number' ? Number(text) : partsOf(text);
}
