/** A node's link to control, as far as tests of control need one. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../base/log.ts';
import { BundleKeeper } from '../../engine/bundle/bundle-keeper.ts';
import type { VerifiedBundle } from '../../engine/bundle/signed-bundle.ts';
import { createControllerLink, type ControllerLink } from '../../engine/link/controller-link.ts';
import { eventually } from './eventually.ts';

type LinkOptions = Parameters<typeof createControllerLink>[0];

/** Connects the local node; `applied` is what it says that it serves. */
export function connectTestLink(
  socketPath: string,
  applied: readonly { readonly sha256: string }[],
  rollOut: LinkOptions['rollOut'],
  more: Partial<LinkOptions> = {},
): ControllerLink {
  const link = createControllerLink({
    socketPath,
    agentId: 'local',
    version: 'test',
    bundles: new BundleKeeper(mkdtempSync(join(tmpdir(), 'waf-keeper-'))),
    configHash: () => applied.at(-1)?.sha256 ?? '',
    rollOut,
    logger: silentLogger,
    ...more,
  });
  link.connect();
  return link;
}

/** Connects a local node that takes whatever comes, and waits for the first; `applied` grows. */
export async function connectTakingLink(
  socketPath: string,
  applied: VerifiedBundle[] = [],
): Promise<ControllerLink> {
  const link = connectTestLink(socketPath, applied, async (obtain, keep) => {
    applied.push(await obtain());
    await keep();
  });
  await eventually(() => Promise.resolve(applied.length > 0));
  return link;
}
