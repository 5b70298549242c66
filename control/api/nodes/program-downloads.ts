/**
 * Hands programs out as one file: the running one to anybody who installs a node of the same
 * platform, and to enrolled nodes that one or an imported release.
 */

import { toAppError } from '../../../base/errors.ts';
import { releaseLimits } from '../../limits/release-limits.ts';
import type { BuiltPackage } from '../../release/build-package.ts';
import { binaryReleases } from '../../store/collections.ts';
import type { NodeCertificate } from '../listener/connection-table.ts';
import type { Uses } from '../context.ts';
import { nodeOfConnection } from './admit-node.ts';
import { sendFile } from './file-answer.ts';
import { nodeReleasePath } from './upgrade-runner.ts';
import type { NodeRequest, NodeResponse } from '../listener/node-http.ts';

/** Where anybody gets the program. */
const publicPath = '/download/waf';

/** Answers requests for a program; false for all others. */
export function answerDownload(
  parts: Uses<'store' | 'clock' | 'logger' | 'program' | 'releases'>,
  request: NodeRequest,
  response: NodeResponse,
  node: NodeCertificate | null,
): boolean {
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  if (path !== publicPath && path !== nodeReleasePath) return false;
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  if (path === nodeReleasePath && typeof nodeOfConnection(parts, node) === 'string') {
    refuse(response, 403, 'permission_denied', 'only enrolled nodes get this');
    return true;
  }
  const asked = path === nodeReleasePath ? new URLSearchParams(query).get('release') : null;
  const release = asked === null ? null : storedFile(parts, asked);
  if (asked !== null && release === null) {
    refuse(response, 404, 'not_found', 'no such release is stored here');
    return true;
  }
  const { program, logger } = parts;
  if (program.downloads >= releaseLimits.downloadsMax) {
    refuse(response, 503, 'unavailable', 'too many downloads at once; try again');
    return true;
  }
  program.downloads++;
  response.once('close', () => program.downloads--);
  (release === null ? program.file() : Promise.resolve(release))
    .then((file) => send(file, request, response))
    .catch((error: unknown) => {
      logger.error('the program could not be packed', { reason: toAppError(error).message });
      refuse(response, 503, 'unavailable', 'the program cannot be packed; see the log');
    });
  return true;
}

/** The file of an imported release; null where there is none. */
function storedFile(
  { store, releases }: Uses<'store' | 'releases'>,
  id: string,
): BuiltPackage | null {
  const release = store.get(binaryReleases, id);
  if (release === undefined) return null;
  const { sha256, sizeBytes } = release;
  const bytes = Number(sizeBytes);
  return releases.bytesOf(sha256) === bytes
    ? { path: releases.pathOf(sha256), sha256, bytes }
    : null;
}

function send(file: BuiltPackage, request: NodeRequest, response: NodeResponse): void {
  response.setHeader('content-type', 'application/gzip');
  response.setHeader('content-disposition', 'attachment; filename="waf.tar.gz"');
  response.setHeader('x-content-sha256', file.sha256);
  // The next program has the same path: caches ask first.
  response.setHeader('cache-control', 'no-cache');
  response.setHeader('x-content-type-options', 'nosniff');
  sendFile(file, request, response);
}

function refuse(response: NodeResponse, status: number, code: string, message: string): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ code, message }));
}
