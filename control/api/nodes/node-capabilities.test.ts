/** What nodes report of what they can do: every field filled, and hashed alike everywhere. */

import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { connectTakingLink } from '../../../test/support/test-link.ts';
import { startTestControl } from '../../../test/support/test-control.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';

test('a report is filled, and its hash is over the report as it is shown', async () => {
  const waf = await startTestControl();
  const link = await connectTakingLink(waf.socket);
  try {
    const { body } = await waf.call('AgentService/GetNodeCapabilities', { nodeId: 'local' });
    expect(body['capabilities']).toEqual({
      version: 1,
      artifactFormat: expect.any(String),
      metricPayloadVersion: expect.any(Number),
      resolverVersion: expect.any(Number),
      controlFormat: 'waf.site_controls.v2',
      bodyModes: ['observe', 'enforce'],
      schemaIrs: ['waf.api_artifact.v1'],
    });
    const hash = createHash('sha256').update(canonicalJson(body['capabilities'])).digest('hex');
    expect(body['capabilitiesSha256']).toBe(hash);
  } finally {
    await link.close();
    await waf.control.close();
  }
});
