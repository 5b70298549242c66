/**
 * Makes an OCI image without a daemon: layers, configuration, manifest and index in one archive.
 * The same files give the same bytes. Source: OCI image format specification 1.1 (image-layout,
 * manifest, config); the health check is the extension that Docker and podman read.
 */

import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { AppError } from '../../../base/errors.ts';
import type { BuiltPackage } from '../build-package.ts';
import { tarPieces, type TarFile } from '../tar-writer.ts';
import {
  dataFolder,
  imageLayers,
  imageUser,
  programFolder,
  type ImageContents,
} from './image-files.ts';

/** What an image is made of and where it goes. */
export interface ImageOptions extends ImageContents {
  readonly version: string;
  /** Folder that the archive is written to. */
  readonly out: string;
}

/** An image on disk. */
export interface BuiltImage extends BuiltPackage {
  /** Digest of the manifest, by which registries and signatures name the image. */
  readonly digest: string;
  readonly architecture: string;
}

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly bytes: Uint8Array;
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const created = '2001-09-09T01:46:40Z';
const media = 'application/vnd.oci.image';

/** What asks whether the service is ready, over its own socket. */
export const healthScript =
  `require('node:http').get({socketPath:'${dataFolder}/admin.sock',path:'/readyz'},` +
  '(r)=>process.exit(r.statusCode===200?0:1)).on("error",()=>process.exit(1))';

/** Builds waf_VERSION_ARCH.oci.tar. Errors: AppError not_packable. */
export function buildImage(options: ImageOptions): BuiltImage {
  const architecture = architectures[process.arch];
  if (architecture === undefined) {
    throw new AppError('not_packable', `no image for ${process.arch}`, { source: 'config' });
  }
  const tars = imageLayers(options).map((layer) => Buffer.concat([...tarPieces(layer())]));
  const layers = tars.map((tar) => blobOf(`${media}.layer.v1.tar+gzip`, zipped(tar)));
  const config = jsonBlob(`${media}.config.v1+json`, {
    created,
    architecture,
    os: 'linux',
    config: configOf(options.version),
    rootfs: { type: 'layers', diff_ids: tars.map(digestOf) },
    history: tars.map(() => ({ created, created_by: 'waf release image' })),
  });
  const manifest = jsonBlob(`${media}.manifest.v1+json`, {
    schemaVersion: 2,
    mediaType: `${media}.manifest.v1+json`,
    config: descriptor(config),
    layers: layers.map(descriptor),
    annotations: labelsOf(options.version),
  });
  const named = {
    ...descriptor(manifest),
    platform: { architecture, os: 'linux' },
    annotations: { 'org.opencontainers.image.ref.name': `waf:${options.version}` },
  };
  const index = {
    schemaVersion: 2,
    mediaType: `${media}.index.v1+json`,
    manifests: [named],
  };
  const archive = Buffer.concat([
    ...tarPieces([
      file('oci-layout', JSON.stringify({ imageLayoutVersion: '1.0.0' })),
      file('index.json', JSON.stringify(index)),
      ...[config, manifest, ...layers].map(({ digest, bytes }) =>
        file(`blobs/${digest.replace(':', '/')}`, bytes),
      ),
    ]),
  ]);
  mkdirSync(options.out, { recursive: true });
  const path = resolve(join(options.out, `waf_${options.version}_${architecture}.oci.tar`));
  writeFileSync(path, archive);
  const sha256 = digestOf(archive).slice('sha256:'.length);
  return { path, sha256, bytes: archive.length, digest: manifest.digest, architecture };
}

function configOf(version: string): object {
  const node = `${programFolder}/node`;
  return {
    User: `${imageUser}:${imageUser}`,
    Env: [`LD_LIBRARY_PATH=${programFolder}/lib`, 'WAF_CONFIG=/etc/waf/waf.yaml'],
    Entrypoint: [node, `${programFolder}/app/.build/control/cli/main.js`],
    Cmd: ['run'],
    WorkingDir: '/',
    Volumes: { [dataFolder]: {} },
    ExposedPorts: { '8080/tcp': {}, '8443/tcp': {}, '9080/tcp': {} },
    StopSignal: 'SIGTERM',
    Labels: labelsOf(version),
    // Nanoseconds. Not in OCI's own fields; Docker and podman read it.
    Healthcheck: {
      Test: ['CMD', node, '-e', healthScript],
      Interval: 30e9,
      Timeout: 5e9,
      StartPeriod: 60e9,
      Retries: 3,
    },
  };
}

function labelsOf(version: string): Readonly<Record<string, string>> {
  const base = 'org.opencontainers.image';
  return {
    [`${base}.title`]: 'waf',
    [`${base}.description`]: 'Reverse proxy with a built-in web application firewall',
    [`${base}.version`]: version,
    [`${base}.licenses`]: 'Apache-2.0',
  };
}

/** The header of gzip names the system that packed; the same bytes must come from each. */
function zipped(tar: Uint8Array): Buffer {
  const packed = gzipSync(tar, { level: 6 });
  packed[9] = 0xff;
  return packed;
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function blobOf(mediaType: string, bytes: Uint8Array): Blob {
  return { mediaType, digest: digestOf(bytes), bytes };
}

function jsonBlob(mediaType: string, value: object): Blob {
  return blobOf(mediaType, Buffer.from(JSON.stringify(value)));
}

function descriptor({ mediaType, digest, bytes }: Blob) {
  return { mediaType, digest, size: bytes.length };
}

function file(name: string, content: string | Uint8Array): TarFile {
  return { name, executable: false, content: Buffer.from(content) };
}
