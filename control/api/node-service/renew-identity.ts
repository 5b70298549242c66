/** NodeService/RenewIdentity: a certificate for a new key, asked for with the present one. */

import { createPublicKey, verify, X509Certificate } from 'node:crypto';
import { createHash } from 'node:crypto';
import { renewalText } from '../../../base/node-identity.ts';
import type { NodeService } from '../../../proto/gen/waf/runtime/v1/nodes_pb.ts';
import type { AgentIdentityRecord } from '../../domain/release/enrollment.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { nodeLimits } from '../../limits/node-limits.ts';
import { agentIdentities } from '../../store/collections.ts';
import { peerKey, type Uses } from '../context.ts';
import { isoNow } from '../convert.ts';
import { admitNode } from '../nodes/admit-node.ts';
import { nodeActor } from '../nodes/node-actor.ts';
import type { Method } from '../method.ts';

/** The certificate that a node has stays good until it ends: lost answers cost nothing. */
export function renewIdentity(
  parts: Uses<'store' | 'clock' | 'logger' | 'nodes' | 'authority' | 'streams'>,
): Method<typeof NodeService, 'renewIdentity'> {
  return async ({ agentId, streamToken, publicKey, proof }, context) => {
    const { agent } = admitNode(parts, { agentId, streamToken }, context);
    if (agent === null) throw invalidField('agentId', 'the built-in node has no certificate');
    if (
      publicKey.length > nodeLimits.publicKeyBytesMax ||
      !signedBy(publicKey, renewalText(agent.id), proof)
    ) {
      throw invalidField('publicKey', 'must be a key on P-256 that signed the proof');
    }
    const nowMs = parts.clock.nowMs();
    refuseSoon(parts.store.get(agentIdentities, agent.id), nowMs);
    const key = Uint8Array.from(publicKey);
    const certificate = await parts.authority.certify(agent.id, key).catch(() => {
      throw invalidField('publicKey', 'must be a key on P-256 that signed the proof');
    });
    const sha256 = fingerprintOf(certificate);
    await parts.store.write((tx) => {
      const identity = tx.get(agentIdentities, agent.id);
      if (identity === undefined) throw invalidField('agentId', 'the node was deleted meanwhile');
      refuseSoon(identity, nowMs);
      // Of those before, the one that it showed: the others may never have reached it.
      const shown = context.values.get(peerKey)?.node?.sha256 ?? '';
      const before = identity.certificatesSha256.filter((one) => one === shown);
      const certificatesSha256 = [sha256, ...before];
      const keysSha256 = [keyFingerprint(key), ...(identity.keysSha256 ?? [])].slice(0, 2);
      const renewedAt = isoNow(parts.clock);
      tx.put(agentIdentities, { ...identity, certificatesSha256, keysSha256, renewedAt });
      tx.audit({ ...nodeActor(agent), action: 'renew_certificate' });
    });
    return {
      workloadCertPem: Buffer.from(certificate),
      caCertPem: Buffer.from(parts.authority.trustedPem()),
    };
  };
}

/** Each renewal is a signature and an audit row. Errors: resource_exhausted. */
function refuseSoon(identity: AgentIdentityRecord | undefined, nowMs: number): void {
  const sinceMs = nowMs - Date.parse(identity?.renewedAt ?? '');
  // A clock that was put back must not keep a node from its certificate.
  if (!(sinceMs >= 0 && sinceMs < nodeLimits.renewalPauseMs)) return;
  const minutes = nodeLimits.renewalPauseMs / 60_000;
  throw refusal('resource_exhausted', `a node renews once in ${minutes} minutes; ask again later`);
}

/** SHA-256 of a certificate, hex. */
export function fingerprintOf(pem: string): string {
  return createHash('sha256').update(new X509Certificate(pem).raw).digest('hex');
}

/** SHA-256 of a public key, SubjectPublicKeyInfo in DER form, hex. */
export function keyFingerprint(publicKey: Uint8Array): string {
  return createHash('sha256').update(publicKey).digest('hex');
}

/** Whether a key on P-256 signed `text`. */
export function signedBy(publicKey: Uint8Array, text: Uint8Array, proof: Uint8Array): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey), type: 'spki', format: 'der' });
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return false;
    return verify('sha256', text, key, proof);
  } catch {
    return false;
  }
}
