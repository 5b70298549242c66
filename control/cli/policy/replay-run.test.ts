/** What a replay could not try has a way on. */

import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import {
  ReplayPlanSchema,
  ReplaySummarySchema,
} from '../../../proto/gen/waf/replay/v1/replay_pb.ts';
import { logPolicyCommands } from '../log/log-policy-commands.ts';
import { describeReplay } from './replay-run.ts';

const described = (...reasons: string[]): string =>
  describeReplay({
    plan: create(ReplayPlanSchema, { found: 23n }),
    differences: [],
    summary: create(ReplaySummarySchema, {
      skipped: reasons.map((reason) => ({ reason, count: 23n })),
    }),
  }).join('\n');

test('requests that are not kept whole name the command that keeps the next ones', () => {
  const bodies = described('body_cut');
  expect(bodies).toContain('Not tried: 23 body_cut.');
  expect(bodies).toContain('waf log policy-set --evidence-body prefix --evidence-body-bytes');
  const flags = logPolicyCommands.flatMap((command) =>
    (command.flags ?? []).map((flag) => flag.flags),
  );
  for (const name of ['--evidence-body ', '--evidence-body-bytes ', '--evidence-header-bytes ']) {
    expect(flags.some((flag) => flag.startsWith(name))).toBe(true);
  }
  expect(described('headers_cut')).toContain('waf log policy-set --evidence-header-bytes');
  expect(described('not_http')).not.toContain('policy-set');
});
