/**
 * A configuration on its way from the stream to traffic: verified, granted, completed, rolled out;
 * and what is reported of it to control.
 */

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { SignedRuntimeBundleSchema } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import type { PartService } from '../../proto/gen/waf/runtime/v1/parts_pb.ts';
import type {
  AgentApplyResultSchema,
  ConfigUpdate,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { supersededCode, toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { BundleKeeper } from '../bundle/bundle-keeper.ts';
import { verifySignedBundle, type VerifiedBundle } from '../bundle/signed-bundle.ts';
import type { Enrolled } from './enrolled.ts';

/** Where configurations go. */
export interface ConfigurationSink {
  /** What an enrolled node proves itself with; absent for the built-in one. */
  readonly enrolled?: Enrolled;
  /** Where pieces of configurations and the last one that served are kept. */
  readonly bundles: BundleKeeper;
  /**
   * Serves a configuration: `obtain` fetches what is missing of it, `keep` stores it. Resolves when
   * traffic uses it, rejects when it cannot be served or when a later one takes its place.
   */
  rollOut(obtain: () => Promise<VerifiedBundle>, keep: () => Promise<void>): Promise<void>;
  readonly logger: Logger;
}

/** The connection that a configuration came by. */
export interface ConfigurationSource {
  readonly parts: Client<typeof PartService>;
  /** The only key whose bundles count; undefined before control named one. */
  readonly signingKey: Uint8Array | undefined;
  /** Ends with the connection. */
  readonly signal: AbortSignal;
}

/** Takes it; resolves to the answer, never rejects. */
export async function takeConfiguration(
  sink: ConfigurationSink,
  source: ConfigurationSource,
  update: ConfigUpdate,
): Promise<MessageInitShape<typeof AgentApplyResultSchema>> {
  const { logger } = sink;
  const revision = String(update.revision);
  let failure = '';
  try {
    await serve(sink, source, update);
    logger.info('configuration applied', { revision });
  } catch (error) {
    const { code, message } = toAppError(error);
    failure = `${code}: ${message}`;
    const level = code === supersededCode ? 'info' : 'error';
    logger[level]('a configuration was not applied', { revision, code, reason: failure });
  }
  return {
    correlationId: update.correlationId,
    success: failure === '',
    error: failure,
    targetRevision: update.revision,
    artifactSha256: update.bundleSha256,
  };
}

async function serve(
  sink: ConfigurationSink,
  { parts, signingKey, signal }: ConfigurationSource,
  update: ConfigUpdate,
): Promise<void> {
  const { enrolled, bundles } = sink;
  const signed = create(SignedRuntimeBundleSchema, {
    bundle: update.bundle,
    signature: update.signature,
    sha256: update.bundleSha256,
    publicKey: update.bundleSigningPublicKey,
  });
  const verified = verifySignedBundle(signed, signingKey ? { publicKey: signingKey } : {});
  enrolled?.grants.require(verified.sha256);
  const fetch = async function* (sha256: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
    const answers = parts.fetchParts({ sha256: [...sha256] }, { signal });
    for await (const { content } of answers) yield content;
  };
  await sink.rollOut(
    () => bundles.complete(verified, fetch),
    async () => {
      await bundles.keep(verified);
      enrolled?.grants.keep(verified.sha256);
    },
  );
}
