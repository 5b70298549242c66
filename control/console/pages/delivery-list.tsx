/**
 * One list of a site's delivery: its entries as a table, a form for one of them, one that adds
 * another. Each change is made to the newest list; an entry that somebody else changed is asked
 * for.
 */

import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { create } from '@bufbuild/protobuf';
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { SiteDeliverySchema, type SiteDelivery } from '../../../proto/gen/waf/v1/delivery_pb.ts';
import { SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { Act } from '../parts/act.tsx';
import { Edit, heldBy, type Field, type Values } from '../parts/edit.tsx';
import { FoldedEdit } from '../parts/list.tsx';
import { Card } from '../parts/panel.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';
import { type ShownSite } from './site-form.tsx';

const sites = createClient(SiteService, transport);
const codes = ['site:write'];

const w = pageTexts({
  edit: ['Edit', '编辑'],
  close: ['Close', '关闭'],
  remove: ['Delete', '删除'],
  up: ['Move up', '上移'],
  add: ['Add', '添加'],
  save: ['Save', '保存'],
  saved: ['Saved. The proxy takes it over now.', '已保存，代理正在应用。'],
  changed: ['Somebody else changed this meanwhile.', '其他人已修改此项。'],
});

/** Lists of a delivery. */
export type ListName =
  | 'forwardAuth'
  | 'redirects'
  | 'rewrites'
  | 'basicAuth'
  | 'bodyLimits'
  | 'timeouts'
  | 'cors'
  | 'compression'
  | 'requestFields'
  | 'responseFields'
  | 'cookies';
/** An entry of a list. */
export type EntryOf<N extends ListName> = SiteDelivery[N][number];

/** What a list is called, shows and asks for. */
export interface DeliveryKind<N extends ListName> {
  readonly name: N;
  readonly title: string;
  readonly note: string;
  readonly empty: string;
  /** Name of the form that adds an entry. */
  readonly add: string;
  /** The order of entries counts. */
  readonly ordered?: boolean;
  readonly columns: readonly Column<EntryOf<N>>[];
  /** The fields of an entry; of a new one without it. */
  readonly fields: (entry?: EntryOf<N>) => readonly Field[];
  /** The entry that was entered. */
  readonly entered: (values: Values, before?: EntryOf<N>) => Promise<EntryOf<N>> | EntryOf<N>;
}

/** The delivery of a site, empty where nothing is set. */
export const deliveryOf = (site: { readonly delivery?: SiteDelivery | undefined }): SiteDelivery =>
  site.delivery ?? create(SiteDeliverySchema);

/** Entries are plain values: equal ones have one text. */
const textOf = (entry: unknown): string =>
  JSON.stringify(entry, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );

/** Keys of rows: a question that is open stays with its entry where others move before it. */
function keysOf(entries: readonly unknown[]): (entry: unknown) => string {
  const texts = entries.map(textOf);
  const keys = texts.map((text, place) => `${texts.indexOf(text) === place ? '' : place} ${text}`);
  return (entry) => keys[entries.indexOf(entry)] ?? '';
}

/** Changes the newest list of a site, and nothing else in it. */
async function change<N extends ListName>(
  siteId: string,
  name: N,
  next: (entries: readonly EntryOf<N>[]) => readonly EntryOf<N>[],
): Promise<void> {
  const { site } = await sites.getSite({ id: siteId });
  if (site === undefined) return;
  const held = deliveryOf(site);
  const entries = next(held[name] as readonly EntryOf<N>[]);
  await sites.updateSite({
    site: { ...site, delivery: { ...held, [name]: entries } },
    revision: site.revision,
    updateMask: `delivery.${name}`,
  });
}

/** The place of an entry. Errors: ConnectError aborted where the list does not hold it any more. */
function placeOf(entries: readonly unknown[], entry: unknown): number {
  const place = entries.findIndex((one) => textOf(one) === textOf(entry));
  if (place < 0) throw new ConnectError(w('changed'), Code.Aborted);
  return place;
}

/** The list as a card. */
export function DeliveryList<N extends ListName>({
  of,
  kind,
}: {
  readonly of: ShownSite;
  readonly kind: DeliveryKind<N>;
}): JSX.Element {
  const { name, title, note, empty, ordered = false, columns } = kind;
  const siteId = of.site.id;
  const entries = deliveryOf(of.site)[name] as readonly EntryOf<N>[];
  const [edited, setEdited] = useState<EntryOf<N> | null>(null);
  const isEdited = (entry: EntryOf<N>): boolean =>
    edited !== null && textOf(entry) === textOf(edited);
  const buttons = (entry: EntryOf<N>): JSX.Element => (
    <span class="actions">
      <button type="button" onClick={() => setEdited(isEdited(entry) ? null : entry)}>
        {w(isEdited(entry) ? 'close' : 'edit')}
      </button>
      {ordered && entries[0] !== entry && (
        <Act
          label={w('up')}
          codes={codes}
          run={() => change(siteId, name, (all) => movedUp(all, placeOf(all, entry)))}
          done={of.changed}
        />
      )}
      <Act
        label={w('remove')}
        ask={`${w('remove')}?`}
        codes={codes}
        run={() => change(siteId, name, (all) => all.toSpliced(placeOf(all, entry), 1))}
        done={() => {
          if (isEdited(entry)) setEdited(null);
          of.changed();
        }}
      />
    </span>
  );
  return (
    <Card title={title} note={note}>
      {entries.length === 0 ? (
        <p class="quiet">{empty}</p>
      ) : (
        <Table
          label={title}
          items={entries}
          empty={empty}
          keyOf={keysOf(entries)}
          sortable={!ordered}
          columns={[...columns, { title: '', of: buttons }]}
        />
      )}
      {edited !== null && (
        <EditEntry
          key={textOf(edited)}
          of={of}
          kind={kind}
          entry={edited}
          saved={() => {
            setEdited(null);
            of.changed();
          }}
        />
      )}
      <AddEntry of={of} kind={kind} />
    </Card>
  );
}

function AddEntry<N extends ListName>({
  of,
  kind: { name, add, fields, entered },
}: {
  readonly of: ShownSite;
  readonly kind: DeliveryKind<N>;
}): JSX.Element {
  return (
    <FoldedEdit
      inside
      label={add}
      codes={codes}
      submit={w('add')}
      done={w('saved')}
      fields={fields()}
      save={async (values) => {
        const made = await entered(values);
        await change(of.site.id, name, (all) => [...all, made]);
      }}
      saved={of.changed}
    />
  );
}

function movedUp<T>(all: readonly T[], place: number): readonly T[] {
  const entry = all[place]!;
  return all.toSpliced(place, 1).toSpliced(Math.max(0, place - 1), 0, entry);
}

function EditEntry<N extends ListName>({
  of,
  kind: { name, title, fields, entered },
  entry,
  saved,
}: {
  readonly of: ShownSite;
  readonly kind: DeliveryKind<N>;
  readonly entry: EntryOf<N>;
  readonly saved: () => void;
}): JSX.Element {
  const base = useRef(entry);
  const first = useRef(fields(entry));
  const place = useRef((deliveryOf(of.site)[name] as readonly EntryOf<N>[]).indexOf(entry));
  return (
    <Edit
      label={`${w('edit')}: ${title}`}
      codes={codes}
      submit={w('save')}
      done={w('saved')}
      fields={first.current}
      save={async (values) => {
        const made = await entered(values, base.current);
        await change(of.site.id, name, (all) => all.with(placeOf(all, base.current), made));
        base.current = made;
      }}
      saved={saved}
      latest={async () => {
        const { site } = await sites.getSite({ id: of.site.id });
        const all = deliveryOf(site ?? of.site)[name] as readonly EntryOf<N>[];
        base.current = all[place.current] ?? base.current;
        return heldBy(fields(base.current));
      }}
    />
  );
}
