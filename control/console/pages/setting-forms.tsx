/** Forms of settings: one for each group of values, and lists of entries with their own. */

import { createClient, Code, ConnectError } from '@connectrpc/connect';
import type { JsonObject } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { SystemService, type SystemSettings } from '../../../proto/gen/waf/v1/system_pb.ts';
import { Act } from '../parts/act.tsx';
import { Edit, heldBy, useBase, type Field } from '../parts/edit.tsx';
import { FoldedEdit } from '../parts/list.tsx';
import { Card } from '../parts/panel.tsx';
import { Table } from '../parts/table.tsx';
import { transport } from '../session.ts';
import { inLanguage, pageTexts } from '../text/text.ts';
import {
  settingGroups,
  settingLists,
  type SettingGroup,
  type SettingList,
  type SettingTab,
} from './setting-groups.ts';
import {
  changedKeys,
  listOf,
  nameOf,
  objectOf,
  shownText,
  type SettingField,
} from './setting-values.ts';

const system = createClient(SystemService, transport);
const codes = ['system:write'] as const;

const w = pageTexts({
  save: ['Save', '保存'],
  edit: ['Edit', '编辑'],
  close: ['Close', '关闭'],
  remove: ['Remove', '删除'],
  yes: ['Yes', '是'],
  no: ['No', '否'],
  taken: ['There is an entry with this id already.', '已有使用此标识的条目。'],
  gone: [
    'Somebody else changed or removed this entry meanwhile.',
    '此条目同时被其他人修改或删除。',
  ],
});

interface FormsProps {
  readonly settings: SystemSettings;
  readonly changed: () => void;
}

/** The forms of a tab. */
export function SettingForms({
  tab,
  settings,
  changed,
}: FormsProps & { readonly tab: SettingTab }): JSX.Element {
  return (
    <>
      {settingGroups
        .filter((one) => one.tab === tab)
        .map((group) => (
          <GroupForm key={group.title[0]} group={group} first={settings} changed={changed} />
        ))}
      {settingLists
        .filter((one) => one.tab === tab)
        .map((list) => (
          <EntryList key={list.key} list={list} settings={settings} changed={changed} />
        ))}
    </>
  );
}

const kinds: Partial<Record<SettingField['kind'], Field['kind']>> = {
  ...{ number: 'number', check: 'check', secret: 'password', area: 'area', lines: 'area' },
  ...{ certificates: 'area', servers: 'area', pairs: 'area' },
};

/** The fields as forms take them, with what these values hold. */
function fieldsOf(fields: readonly SettingField[], values: JsonObject): readonly Field[] {
  return fields.map((field) => {
    const { kind, path, label, choices, hint } = field;
    return {
      name: nameOf(field),
      api: [nameOf(field).split('.').at(-1)!, path.findLast((part) => part !== '*')!],
      label: inLanguage(label),
      kind: kinds[kind] ?? 'text',
      value: shownText(field, values),
      ...(hint === undefined ? {} : { hint: inLanguage(hint) }),
      ...(choices === undefined
        ? {}
        : { choices: choices.map(([value, text]) => [value, inLanguage(text)] as const) }),
    };
  });
}

/** Saves values over those that were read. Errors: of the call; aborted where they changed. */
async function saveOver(
  { updatedAt }: Pick<SystemSettings, 'updatedAt'>,
  values: JsonObject,
): Promise<SystemSettings | undefined> {
  const { settings } = await system.updateSystemSettings({
    values,
    expectedUpdatedAt: updatedAt ?? timestampFromMs(0),
  });
  return settings;
}

function GroupForm({
  group: { title, note, fields },
  first,
  changed,
}: {
  readonly group: SettingGroup;
  readonly first: SystemSettings;
  readonly changed: () => void;
}): JSX.Element {
  const base = useBase(first);
  const take = (settings: SystemSettings | undefined): void => {
    if (settings !== undefined) base.current = settings;
  };
  const text = inLanguage(title);
  return (
    <Card title={text} {...(note === undefined ? {} : { note: inLanguage(note) })}>
      <Edit
        label={text}
        codes={codes}
        submit={w('save')}
        base={base}
        saved={changed}
        fields={fieldsOf(fields, first.values ?? {})}
        apart
        latest={async () => {
          take((await system.getSystemSettings({})).settings);
          return heldBy(fieldsOf(fields, base.current.values ?? {}));
        }}
        save={async (entered) => {
          const { values = {} } = base.current;
          take(await saveOver(base.current, changedKeys(fields, values, entered)));
        }}
      />
    </Card>
  );
}

interface EntryListProps extends FormsProps {
  readonly list: SettingList;
}

function EntryList({ list, settings, changed }: EntryListProps): JSX.Element {
  const { key, title, note, add, empty, columns, fields } = list;
  const entries = listOf(settings.values?.[key]).map(objectOf);
  const [editedId, edit] = useState('');
  const edited = entries.find((entry) => idOf(entry) === editedId);
  const buttons = (entry: JsonObject): JSX.Element => (
    <span class="actions">
      <button type="button" onClick={() => edit(entry === edited ? '' : idOf(entry))}>
        {w(entry === edited ? 'close' : 'edit')}
      </button>
      <Act
        label={w('remove')}
        ask={`${w('remove')}?`}
        codes={codes}
        run={() => change(key, (all) => all.filter((one) => idOf(one) !== idOf(entry)))}
        done={changed}
      />
    </span>
  );
  const shown = fields.filter(({ path }) => columns.includes(path[0]!));
  const text = inLanguage(title);
  return (
    <Card title={text} {...(note === undefined ? {} : { note: inLanguage(note) })}>
      <Table
        label={text}
        items={entries}
        empty={inLanguage(empty)}
        keyOf={idOf}
        columns={[
          ...shown.map((field) => ({
            title: inLanguage(field.label),
            of: (entry: JsonObject) => cellText(field, entry),
          })),
          { title: '', of: buttons },
        ]}
      />
      {edited !== undefined && (
        <EditEntry key={editedId} list={list} entry={edited} changed={changed} />
      )}
      <FoldedEdit
        inside
        label={inLanguage(add)}
        codes={codes}
        submit={inLanguage(add)}
        fields={fieldsOf(fields, {})}
        saved={changed}
        save={(entered) =>
          change(key, (all) => {
            const made = changedKeys(fields, {}, entered);
            if (all.some((one) => idOf(one) === idOf(made))) throw new Error(w('taken'));
            return [...all, made];
          })
        }
      />
    </Card>
  );
}

const idOf = (entry: JsonObject): string => (typeof entry['id'] === 'string' ? entry['id'] : '');

/** What a cell shows of an entry. */
function cellText(field: SettingField, entry: JsonObject): string {
  const text = shownText(field, entry);
  if (field.kind === 'check') return w(text === 'on' ? 'yes' : 'no');
  const choice = field.choices?.find(([value]) => value === text);
  return choice === undefined ? text.replaceAll('\n', ', ') : inLanguage(choice[1]);
}

/** Changes the newest list of a setting, and nothing else in it. Errors: of the calls. */
async function change(
  key: string,
  next: (entries: readonly JsonObject[]) => readonly JsonObject[],
): Promise<void> {
  const { settings } = await system.getSystemSettings({});
  if (settings === undefined) return;
  const entries = listOf(settings.values?.[key]).map(objectOf);
  await saveOver(settings, { [key]: [...next(entries)] });
}

function EditEntry({
  list: { key, title, fields },
  entry,
  changed,
}: {
  readonly list: SettingList;
  readonly entry: JsonObject;
  readonly changed: () => void;
}): JSX.Element {
  const base = useBase(entry);
  const id = idOf(entry);
  return (
    <Edit
      label={`${w('edit')}: ${inLanguage(title)}`}
      codes={codes}
      submit={w('save')}
      base={base}
      saved={changed}
      fields={fieldsOf(fields, entry)}
      latest={async () => {
        const { settings } = await system.getSystemSettings({});
        const newest = listOf(settings?.values?.[key]).map(objectOf);
        base.current = newest.find((one) => idOf(one) === id) ?? base.current;
        return heldBy(fieldsOf(fields, base.current));
      }}
      save={async (entered) => {
        const held = base.current;
        const made = { ...held, ...changedKeys(fields, held, entered) };
        const next = Object.fromEntries(Object.entries(made).filter(([, value]) => value !== null));
        await change(key, (all) => {
          const place = all.findIndex((one) => JSON.stringify(one) === JSON.stringify(held));
          if (place < 0) throw new ConnectError(w('gone'), Code.Aborted);
          return all.with(place, next);
        });
        base.current = next;
      }}
    />
  );
}
