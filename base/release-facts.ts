/**
 * What the signed comment of a release says: the controller reads it before an import, a node reads
 * it again before it runs what it downloaded. Pure.
 */

/** Channels of releases. */
export const releaseChannels = ['stable', 'prerelease'] as const;
/** A channel. */
export type ReleaseChannel = (typeof releaseChannels)[number];

/** What a release says about itself; all of it is signed. */
export interface ReleaseFacts {
  readonly version: string;
  readonly channel: ReleaseChannel;
  /** As Node names it, for example linux. */
  readonly platform: string;
  /** As Node names it, for example x64. */
  readonly arch: string;
}

// Semantic Versioning 2.0 without build metadata, which has no order.
const versionPattern =
  /^(?:0|[1-9]\d{0,8})(?:\.(?:0|[1-9]\d{0,8})){2}(?:-[\dA-Za-z-]{1,32}(?:\.[\dA-Za-z-]{1,32})*)?$/;
const versionCharactersMax = 64;
const wordPattern = /^[a-z0-9_]{1,16}$/;

/** The signed comment of a release. */
export function releaseComment({ version, channel, platform, arch }: ReleaseFacts): string {
  return `waf-release version=${version} channel=${channel} platform=${platform} arch=${arch}`;
}

/** What a signed comment says; null unless it has exactly this form. */
export function readReleaseComment(comment: string): ReleaseFacts | null {
  const read = /^waf-release version=(\S+) channel=(\S+) platform=(\S+) arch=(\S+)$/.exec(comment);
  if (read === null) return null;
  const [, version = '', asked = '', platform = '', arch = ''] = read;
  const channel = releaseChannels.find((one) => one === asked);
  if (channel === undefined || !isReleaseVersion(version)) return null;
  if (!wordPattern.test(platform) || !wordPattern.test(arch)) return null;
  if (channel === 'stable' && version.includes('-')) return null;
  return { version, channel, platform, arch };
}

/** Whether a text is a version that a release may have. */
export function isReleaseVersion(text: string): boolean {
  return text.length <= versionCharactersMax && versionPattern.test(text);
}

/** The only form of the list of releases that is known. */
export const releaseIndexFormat = 'waf-release-index/1';

/** What the signature of a list of releases says; times are RFC 3339 in UTC, to the second. */
export function indexComment(issuedMs: number, expiresMs: number): string {
  const text = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
  return `waf-release-index issued=${text(issuedMs)} expires=${text(expiresMs)}`;
}
