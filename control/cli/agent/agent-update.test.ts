/** Proves that `waf agent update` removes no tag that it does not name, except with --replace. */

import { expect, test, vi } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { keepPrinted } from '../../../test/support/printed.ts';
import { startTestControl } from '../../../test/support/test-control.ts';
import { agents } from '../../store/collections.ts';
import { openLmdbKv } from '../../store/lmdb-kv.ts';
import { openStore } from '../../store/store.ts';
import { agentChangeCommands } from './agent-change-commands.ts';
import { runCommandLine } from '../program.ts';

const id = 'agent-00000000-0000-4000-8000-000000000001';

test('tags are added, removed by name, and replaced only on demand', async () => {
  const waf = await startTestControl({ demoOrigin: null }, async (folder) => {
    const store = await openStore(openLmdbKv({ folder, durable: false }), systemClock);
    const at = new Date(0).toISOString();
    const base = { tenantId: 'default', createdAt: at, updatedAt: at };
    await store.write((tx) => tx.put(agents, { id, name: 'edge', tags: ['a'], ...base }));
    await store.close();
  });
  const tagsAfter = async (...words: string[]): Promise<string> => {
    const printed = keepPrinted();
    const line = ['agent', 'update', id, ...words, '--admin-socket', waf.socket];
    expect(await runCommandLine(agentChangeCommands, [...line, '--output', 'json'])).toBe(0);
    const { agent } = JSON.parse(printed.out) as { agent: { name: string; tags?: string[] } };
    vi.restoreAllMocks();
    return `${agent.name} ${(agent.tags ?? []).join()}`;
  };
  expect(await tagsAfter('--tag', 'b')).toBe('edge a,b');
  expect(await tagsAfter('--tag', 'a', '--remove')).toBe('edge b');
  expect(await tagsAfter('--tag', 'c', '--replace')).toBe('edge c');
  expect(await tagsAfter('--name', 'rim')).toBe('rim c');
  await waf.control.close();
});
