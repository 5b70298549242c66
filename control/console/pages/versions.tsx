/** The versions of a policy: who made each, what changed since, and the way back. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { JsonPatch } from '../../../proto/gen/waf/v1/common_pb.ts';
import { useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { List, usePages } from '../parts/list.tsx';
import { changedValues } from '../parts/changed-values.ts';
import { Table } from '../parts/table.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';

const policies = createClient(PolicyService, transport);

const w = pageTexts({
  versions: ['Versions', '版本'],
  revision: ['Revision', '修订版'],
  when: ['Time', '时间'],
  who: ['By', '操作者'],
  none: ['No version yet.', '还没有版本。'],
  diff: ['Compare with the newest', '与最新版比较'],
  back: ['Go back to this', '回滚到此版本'],
  backAsk: ['Serve this version from now on?', '从现在起使用此版本？'],
  same: ['Nothing differs.', '没有差异。'],
  changes: ['What differs', '差异'],
  setting: ['Setting', '设置'],
  before: ['In this version', '此版本'],
  after: ['In the newest', '最新版'],
  now: ['now', '当前'],
});

/** The view. */
export function PolicyVersions({
  id: policyId,
  changed,
}: {
  readonly id: string;
  readonly changed: () => void;
}): JSX.Element {
  const found = usePages(policyId, (page, signal) =>
    policies.listPolicyVersions({ policyId, page }, { signal }),
  );
  const [diff, setDiff] = useState<JsonPatch | null>(null);
  const first = useCall(policyId, (signal) =>
    policies.listPolicyVersions({ policyId, page: { page: 1, pageSize: 1 } }, { signal }),
  );
  const newest = first.value?.items[0]?.id ?? '';
  return (
    <>
      <List
        of={found}
        label={w('versions')}
        empty={w('none')}
        columns={[
          { title: w('revision'), by: ({ revision }) => revision },
          { title: w('when'), by: ({ createdAt }) => createdAt },
          { title: w('who'), of: ({ createdBy }) => createdBy },
          {
            title: '',
            of: ({ id }) =>
              newest === '' ? null : id === newest ? (
                <span class="badge">{w('now')}</span>
              ) : (
                <span class="actions">
                  <Act
                    label={w('diff')}
                    codes={['policy:read']}
                    run={async () => {
                      const pair = { leftVersionId: id, rightVersionId: newest };
                      setDiff((await policies.diffPolicyVersions(pair)).diff ?? null);
                    }}
                  />
                  <Act
                    label={w('back')}
                    ask={w('backAsk')}
                    codes={['policy:write']}
                    run={() => policies.rollbackPolicy({ policyId, versionId: id })}
                    done={() => {
                      found.reload();
                      first.reload();
                      changed();
                    }}
                  />
                </span>
              ),
          },
        ]}
      />
      {diff !== null && <Changes of={diff} />}
    </>
  );
}

/** Each setting that differs, with its value in both versions. */
function Changes({ of }: { readonly of: JsonPatch }): JSX.Element {
  return (
    <div aria-live="polite">
      <Table
        label={w('changes')}
        items={changedValues(of.before, of.after, of.changedPaths)}
        empty={w('same')}
        keyOf={({ path }) => path}
        columns={[
          { title: w('setting'), by: ({ path }) => path, of: ({ path }) => <code>{path}</code> },
          { title: w('before'), of: ({ before }) => before },
          { title: w('after'), of: ({ after }) => after },
        ]}
      />
    </div>
  );
}
