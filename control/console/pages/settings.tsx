/** Settings and the state of the service: health, versions, storage, updates. */

import { createClient } from '@connectrpc/connect';
import type { JsonObject } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { JSX } from 'preact';
import { CertService } from '../../../proto/gen/waf/v1/cert_pb.ts';
import {
  SystemService,
  type HealthCheck,
  type ObservationLaneStats as Lane,
  type SystemSettings,
} from '../../../proto/gen/waf/v1/system_pb.ts';
import { useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { Edit, heldBy, useBase, type Field, type Values } from '../parts/edit.tsx';
import { List, usePages } from '../parts/list.tsx';
import { Card, Fold, Head, Tabs, Sentence } from '../parts/panel.tsx';
import { stateName } from '../parts/state-name.ts';
import { State } from '../parts/state.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { transport } from '../session.ts';
import { said } from '../text/sentences.ts';
import { exactNumber, pageTexts, t } from '../text/text.ts';
import { SettingForms } from './setting-forms.tsx';
import type { SettingTab } from './setting-groups.ts';

const system = createClient(SystemService, transport);
const certs = createClient(CertService, transport);

const w = pageTexts({
  title: ['Settings', '设置'],
  note: ['How the service is, and how it is set.', '服务的状态与设置。'],
  health: ['Health', '健康状态'],
  settings: ['Settings', '设置'],
  pipelines: ['Pipelines', '数据管道'],
  pipelinesNote: [
    'What nodes saw, on its way to the store and to SIEM targets, since the start.',
    '自启动以来，节点观测数据写入存储和 SIEM 目标的情况。',
  ],
  written: ['Written', '已写入'],
  dropped: ['Lost', '丢失'],
  waiting: ['Waiting', '等待中'],
  lastError: ['Last error', '最近错误'],
  signIn: ['Sign-in', '登录'],
  services: ['Services of others', '外部服务'],
  updates: ['Versions', '版本'],
  part: ['Part', '组件'],
  state: ['State', '状态'],
  message: ['Message', '说明'],
  took: ['Took', '耗时'],
  ms: ['{ms} ms', '{ms} 毫秒'],
  version: ['Version', '版本'],
  revision: ['Configuration', '配置版本'],
  nodes: ['Nodes connected', '已连接节点'],
  nodesText: ['{all}, of them {remote} remote', '{all}，其中远程节点 {remote}'],
  none: ['No check.', '没有检查项。'],
  values: ['All values as JSON', '全部值（JSON）'],
  valuesNote: [
    'Only what is written here changes; what each means: `waf system settings-set --help`.',
    '仅更改此处写明的内容；含义见 `waf system settings-set --help`。',
  ],
  outside: ['The console from outside', '从外部访问控制台'],
  outsideNote: [
    'Clients of this name get a managed certificate. Its port 80 has to reach the proxy.',
    '以该域名访问的客户端使用托管证书；其 80 端口须指向代理。',
  ],
  outsideHow: [
    'The listener answers the network only if it runs with `--management 0.0.0.0:9080`.',
    '仅当以 `--management 0.0.0.0:9080` 运行时，监听端口才对网络开放。',
  ],
  outsideHost: ['Host, for example waf.example.com', '主机名，例如 waf.example.com'],
  save: ['Save', '保存'],
  channel: ['Channel', '通道'],
  imported: ['Imported', '导入时间'],
  releases: ['Releases of the program', '程序版本'],
  noRelease: ['No release was imported.', '尚未导入版本。'],
  rulesets: ['Releases of the Core Rule Set', 'CRS 规则集版本'],
  rules: ['Rules', '规则数'],
  check: ['Look for updates', '检查更新'],
  geo: ['Geo databases', '地理数据库'],
  kind: ['Kind', '类型'],
  runs: ['Upgrade runs', '升级任务'],
  noRun: ['No upgrade was run.', '没有升级任务。'],
  noGeo: ['No geo database: countries are unknown.', '没有地理数据库：无法识别国家/地区。'],
  started: ['Started', '开始时间'],
});

/** The page. */
export function Settings(): JSX.Element {
  return (
    <>
      <Head title={w('title')} note={w('note')} />
      <Tabs
        label={w('title')}
        tabs={[
          { name: 'health', codes: ['system:read'], title: w('health'), view: () => <Health /> },
          {
            name: 'settings',
            codes: ['system:read'],
            title: w('settings'),
            view: () => <Values tab="settings" />,
          },
          {
            name: 'sign-in',
            codes: ['system:read'],
            title: w('signIn'),
            view: () => <Values tab="sign-in" />,
          },
          {
            name: 'services',
            codes: ['system:read'],
            title: w('services'),
            view: () => <Values tab="services" />,
          },
          {
            name: 'updates',
            codes: ['system:update:read'],
            title: w('updates'),
            view: () => <Updates />,
          },
        ]}
      />
    </>
  );
}

/** Nodes with the built-in one, which has a check of its own. */
function connectedText(checks: readonly HealthCheck[], remote: number): string {
  const builtInUp = checks.some(
    ({ component, status }) => component === 'engine' && status === 'healthy',
  );
  const builtIn = builtInUp ? 1 : 0;
  return w('nodesText', { all: exactNumber(builtIn + remote), remote: exactNumber(remote) });
}

function Health(): JSX.Element {
  const found = useCall('health', (signal) => system.health({}, { signal }));
  return (
    <State of={found}>
      {({ status, version, configRevision, remoteAgentsConnected, checks, warnings }) => (
        <>
          <Card title={w('health')}>
            <dl class="facts">
              <dt>{w('state')}</dt>
              <dd>{stateName(status)}</dd>
              <dt>{w('version')}</dt>
              <dd>{version}</dd>
              <dt>{w('revision')}</dt>
              <dd>{exactNumber(configRevision)}</dd>
              <dt>{w('nodes')}</dt>
              <dd>{connectedText(checks, remoteAgentsConnected)}</dd>
            </dl>
            {warnings.map((warning) => (
              <p class="notice">
                <VisibleText text={said(warning)} />
              </p>
            ))}
          </Card>
          <Table
            label={w('health')}
            items={checks}
            empty={w('none')}
            columns={[
              { title: w('part'), of: ({ component }) => stateName(component) },
              {
                title: w('state'),
                by: ({ status }) => stateName(status),
                of: (check) => (
                  <span class={/^(?:ok|healthy|pass)/i.test(check.status) ? 'good' : 'warning'}>
                    {stateName(check.status)}
                  </span>
                ),
              },
              { title: w('message'), of: ({ message }) => said(message) },
              {
                title: w('took'),
                number: true,
                by: ({ durationMs }) => durationMs,
                of: ({ durationMs }) => w('ms', { ms: exactNumber(durationMs) }),
              },
            ]}
          />
          <Pipelines />
        </>
      )}
    </State>
  );
}

const streamNames = {
  security_fact: ['Security events', '安全事件'],
  metric: ['Exact counts', '精确计数'],
  access_detail: ['Access events', '访问事件'],
  access_sample: ['Sampled access events', '抽样访问事件'],
  access_export: ['Access events for other systems', '外发的访问事件'],
  error_detail: ['Error events', '错误事件'],
  other: ['Streams that are not understood', '无法识别的数据流'],
} as const;
const streams = pageTexts(streamNames);

function isStream(name: string): name is keyof typeof streamNames {
  return Object.hasOwn(streamNames, name);
}

/** What became of observations on their way to the store and to the systems of others. */
function Pipelines(): JSX.Element {
  const found = useCall('pipelines', (signal) =>
    system.getObservationPipelineStats({}, { signal }),
  );
  const count = (title: string, of: (lane: Lane) => bigint): Column<Lane> => ({
    ...{ title, number: true },
    by: of,
  });
  return (
    <Card title={w('pipelines')} note={w('pipelinesNote')}>
      <State of={found}>
        {({ stats }) => (
          <Table<Lane>
            label={w('pipelines')}
            items={stats?.lanes ?? []}
            empty={t('common.none')}
            keyOf={({ name }) => name}
            columns={[
              { title: w('part'), of: ({ name }) => (isStream(name) ? streams(name) : name) },
              count(w('written'), ({ written }) => written),
              count(w('dropped'), ({ dropped }) => dropped),
              count(w('waiting'), ({ pendingItems }) => pendingItems),
              { title: w('lastError'), of: ({ lastError }) => said(lastError) },
            ]}
          />
        )}
      </State>
    </Card>
  );
}

const shownValues = (settings: SystemSettings): string =>
  JSON.stringify(settings.values ?? {}, null, 2);

function Values({ tab }: { readonly tab: SettingTab }): JSX.Element {
  const found = useCall('settings', (signal) => system.getSystemSettings({}, { signal }));
  return (
    <State of={found}>
      {({ settings, applyError }) => (
        <>
          {applyError !== '' && (
            <p class="notice">
              <VisibleText text={said(applyError)} />
            </p>
          )}
          {settings !== undefined && (
            <>
              {tab === 'settings' && <Outside first={settings} changed={found.reload} />}
              <SettingForms tab={tab} settings={settings} changed={found.reload} />
              {tab === 'settings' && (
                <Fold title={w('values')}>
                  <p class="quiet">
                    <Sentence text={w('valuesNote')} />
                  </p>
                  <ValuesForm first={settings} changed={found.reload} />
                </Fold>
              )}
            </>
          )}
        </>
      )}
    </State>
  );
}

const consoleHost = 'console.host';

function hostFields(settings: SystemSettings): readonly Field[] {
  const value = settings.values?.[consoleHost];
  return [
    {
      name: 'host',
      api: ['values'],
      label: w('outsideHost'),
      value: typeof value === 'string' ? value : '',
    },
  ];
}

/** The name of the console, with its certificate: ordered where none is managed yet. */
function Outside({
  first,
  changed,
}: {
  readonly first: SystemSettings;
  readonly changed: () => void;
}): JSX.Element {
  const base = useBase(first);
  const save = async ({ host = '' }: Values): Promise<void> => {
    const { updatedAt } = base.current;
    const { settings } = await system.updateSystemSettings({
      values: { [consoleHost]: host },
      expectedUpdatedAt: updatedAt ?? timestampFromMs(0),
    });
    base.current = settings ?? base.current;
    if (host === '') return;
    const { items } = await certs.listCerts({ query: host });
    if (items.some(({ managed, dnsNames }) => managed && dnsNames.includes(host))) return;
    await certs.issueACMECert({ name: host, dnsNames: [host] });
  };
  return (
    <Card title={w('outside')} note={w('outsideNote')}>
      <p class="quiet">
        <Sentence text={w('outsideHow')} />
      </p>
      <Edit
        label={w('outside')}
        codes={['system:write', 'cert:issue']}
        submit={w('save')}
        base={base}
        fields={hostFields(first)}
        save={save}
        saved={changed}
        apart
        latest={async () => {
          base.current = (await system.getSystemSettings({})).settings ?? base.current;
          return heldBy(hostFields(base.current));
        }}
      />
    </Card>
  );
}

function ValuesForm({
  first,
  changed,
}: {
  readonly first: SystemSettings;
  readonly changed: () => void;
}): JSX.Element {
  const base = useBase(first);
  const take = (settings: SystemSettings | undefined): void => {
    if (settings !== undefined) base.current = settings;
  };
  return (
    <Edit
      label={w('values')}
      codes={['system:write']}
      submit={w('save')}
      base={base}
      saved={changed}
      fields={[{ name: 'values', label: w('values'), kind: 'area', value: shownValues(first) }]}
      latest={async () => {
        take((await system.getSystemSettings({})).settings);
        return { values: shownValues(base.current) };
      }}
      save={async ({ values = '' }) => {
        const { updatedAt } = base.current;
        const answer = await system.updateSystemSettings({
          values: changedValues(base.current.values ?? {}, JSON.parse(values) as JsonObject),
          expectedUpdatedAt: updatedAt ?? timestampFromMs(0),
        });
        take(answer.settings);
      }}
    />
  );
}

/** The values that differ from those that were read. */
function changedValues(before: JsonObject, after: JsonObject): JsonObject {
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(before[name]) !== JSON.stringify(value),
  );
  return Object.fromEntries(changed);
}

function Updates(): JSX.Element {
  const releases = usePages('releases', (page, signal) =>
    system.listBinaryReleases({ page }, { signal }),
  );
  const rulesets = usePages('rulesets', (page, signal) =>
    system.listSystemCrsRulesets({ page }, { signal }),
  );
  return (
    <>
      <Card title={w('releases')}>
        <List
          of={releases}
          label={w('releases')}
          empty={w('noRelease')}
          columns={[
            { title: w('version'), of: ({ version }) => version },
            { title: w('channel'), of: ({ channel }) => channel },
            { title: w('state'), of: ({ fileStatus }) => fileStatus },
            { title: w('imported'), by: ({ importedAt }) => importedAt },
          ]}
        />
        <Act
          label={w('check')}
          codes={['system:update:read']}
          run={() => system.checkForUpdates({})}
          done={releases.reload}
        />
      </Card>
      <Card title={w('rulesets')}>
        <List
          of={rulesets}
          label={w('rulesets')}
          empty={t('common.none')}
          columns={[
            { title: w('version'), of: ({ version }) => version },
            { title: w('rules'), number: true, by: ({ ruleCount }) => ruleCount },
            { title: w('imported'), by: ({ ingestedAt }) => ingestedAt },
          ]}
        />
      </Card>
      <GeoAndRuns />
    </>
  );
}

function GeoAndRuns(): JSX.Element {
  const geo = useCall('geo', (signal) => system.listGeoDatabases({}, { signal }));
  const runs = usePages('runs', (page, signal) => system.listUpgradeRuns({ page }, { signal }));
  return (
    <>
      <Card title={w('geo')}>
        <List
          of={geo}
          label={w('geo')}
          empty={w('noGeo')}
          columns={[
            { title: w('kind'), of: (item) => stateName(item.kind) },
            { title: w('version'), of: ({ version }) => version },
          ]}
        />
      </Card>
      <Card title={w('runs')}>
        <List
          of={runs}
          label={w('runs')}
          empty={w('noRun')}
          columns={[
            { title: w('version'), of: ({ targetVersion }) => targetVersion },
            { title: w('started'), by: ({ startedAt }) => startedAt },
          ]}
        />
      </Card>
    </>
  );
}
