/**
 * Lists what an image is made of, and how it was built, for programs that judge supply chains.
 * Source: CycloneDX 1.5 (JSON); in-toto Statement v1 with SLSA provenance v1. Neither holds a time:
 * the same files give the same documents.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  packagedFiles,
  runningPackages,
  systemLibraries,
  type RunningPackage,
} from '../package-files.ts';
import type { BuiltImage } from './oci-image.ts';

/** Components of the program in `folder` as CycloneDX; `libraries` are those of the addon. */
export function billOfMaterials(
  folder: string,
  version: string,
  libraries: Readonly<Record<string, string>>,
): string {
  const shared = [
    ...packagedFiles(folder)
      .filter(({ name }) => name.startsWith('waf/lib/') || name.endsWith('.node'))
      .map(({ path }) => path),
    ...systemLibraries(folder),
  ];
  const components = [
    { type: 'platform', name: 'node', version: process.versions.node, ...named('node') },
    ...runningPackages(folder).map(ofPackage),
    ...Object.entries(libraries)
      .filter(([name]) => name !== 'node' && Object.hasOwn(process.versions, name))
      .map(([name, its]) => ({ type: 'library', name, version: its, ...named(name) })),
    // In the order of their contents: where the program was built does not matter.
    ...shared.map(ofFile).sort((left, right) => (left['bom-ref'] < right['bom-ref'] ? -1 : 1)),
  ];
  return text({
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', name: 'waf', version, 'bom-ref': 'waf' } },
    components: [...new Map(components.map((one) => [one['bom-ref'], one])).values()],
  });
}

/** How an image was built, about the digest of its manifest. */
export function provenance(folder: string, version: string, image: BuiltImage): string {
  const lock = sha256(readFileSync(join(folder, 'package-lock.json')));
  return text({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: `waf:${version}`, digest: { sha256: image.digest.slice('sha256:'.length) } },
      { name: basename(image.path), digest: { sha256: image.sha256 } },
    ],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://waf.invalid/release-image/v1',
        externalParameters: { version, architecture: image.architecture },
        internalParameters: {},
        resolvedDependencies: [
          { name: 'package-lock.json', digest: { sha256: lock } },
          { name: 'node', digest: { sha256: sha256(readFileSync(process.execPath)) } },
        ],
      },
      runDetails: { builder: { id: 'https://waf.invalid/npm-run-package' } },
    },
  });
}

function ofFile(path: string) {
  const content = sha256(readFileSync(path));
  const hashes = [{ alg: 'SHA-256', content }];
  return { type: 'file', name: basename(path), 'bom-ref': `file:${content}`, hashes };
}

function ofPackage({ name, version, license, integrity }: RunningPackage) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const algorithm = integrity.startsWith('sha512-') ? 'SHA-512' : '';
  const content = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
  return {
    type: 'library',
    name,
    version,
    purl,
    'bom-ref': purl,
    ...(license === '' ? {} : { licenses: [licenseOf(license)] }),
    ...(algorithm === '' ? {} : { hashes: [{ alg: algorithm, content }] }),
  };
}

/** An identifier of SPDX, or an expression of several. */
function licenseOf(license: string): object {
  return / (?:OR|AND|WITH) /.test(license)
    ? { expression: license }
    : { license: /^[\w.+-]+$/.test(license) ? { id: license } : { name: license } };
}

function named(name: string): { readonly 'bom-ref': string } {
  return { 'bom-ref': `generic:${name}` };
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function text(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
