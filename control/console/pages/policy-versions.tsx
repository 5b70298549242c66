/** The versions of a policy: who made each, what changed since, and the way back. */

import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { JsonPatch } from '../../../proto/gen/waf/v1/common_pb.ts';
import { useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { List, usePages } from '../parts/list.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { when } from '../parts/when.tsx';
import { transport } from '../session.ts';
import { exactNumber, pageTexts } from '../text/text.ts';

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
          { title: w('revision'), of: ({ revision }) => exactNumber(revision) },
          { title: w('when'), of: ({ createdAt }) => when(createdAt) },
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
      {diff !== null && (
        <pre class="code" aria-live="polite">
          <VisibleText text={textOf(diff)} lines />
        </pre>
      )}
    </>
  );
}

/** The changed fields, each with its value before and after. */
function textOf({ before, after, changedPaths }: JsonPatch): string {
  if (changedPaths.length === 0) return w('same');
  const lines = changedPaths.map((path) => `${path}: ${at(before, path)} → ${at(after, path)}`);
  return lines.join('\n');
}

function at(value: unknown, path: string): string {
  const found = path.split('.').reduce<unknown>((inner, name) => {
    return typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined;
  }, value);
  return found === undefined ? '–' : JSON.stringify(found);
}
