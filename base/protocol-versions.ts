/**
 * The versions that a node and its controller compare: exactly, without negotiation. Whoever has
 * another one is refused with the name of the field, by either side.
 */

/** Version of the observation protocol: batches, acknowledgements, gaps. */
export const observationProtocolVersion = 1;

/** Version of the payload of METRIC batches, bounds of durations included, and of load reports. */
export const metricPayloadVersion = 9;

/** Version of the payload of SECURITY_FACT batches. */
export const securityFactVersion = 1;

/** Versions of the payloads of ACCESS_DETAIL and of ERROR_DETAIL batches. */
export const accessFactVersion = 1;
export const errorFactVersion = 1;

/** Version of a capability report, and the format of the artifact that it names. */
export const capabilitiesVersion = 1;
export const artifactFormat = 'waf.runtime.v1';

/** What both sides must have alike. */
const exactVersions = {
  version: capabilitiesVersion,
  artifactFormat,
  metricPayloadVersion,
} as const;

/** Version of the rules by which nodes find the client's address. */
const resolverVersion = 1;
/** Format of a site's operation controls. */
export const controlFormat = 'waf.site_controls.v2';
/** What nodes do with the finding of a body control. */
const bodyModes = ['observe', 'enforce'] as const;
/** Format of compiled API documents. */
const schemaIr = 'waf.api_artifact.v1';

/** What this build announces of itself. */
export const ownCapabilities = {
  ...exactVersions,
  resolverVersion,
  controlFormat,
  bodyModes: [...bodyModes] as string[],
  schemaIrs: [schemaIr] as string[],
} as const;

/** What the other side announces; nothing is assumed of what it leaves out. */
export interface AnnouncedVersions {
  readonly capabilities?:
    | {
        readonly version: number;
        readonly artifactFormat: string;
        readonly metricPayloadVersion: number;
      }
    | undefined;
}

/** What does not fit, as a sentence that begins with the field; '' when all is equal. */
export function versionMismatch({ capabilities }: AnnouncedVersions): string {
  for (const [name, wanted] of Object.entries(exactVersions)) {
    const found = capabilities?.[name as keyof typeof exactVersions];
    if (found !== wanted) return `capabilities.${name}: must be ${wanted}`;
  }
  return '';
}
