/** Proves what is in an image, and that the same files give the same bytes. */

import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { programFolder } from '../program-folder.test-support.ts';
import { buildImage, type ImageOptions } from './oci-image.ts';
import { billOfMaterials, provenance } from './sbom.ts';

const options = (program: string): ImageOptions => ({
  program,
  version: '1.2.3',
  out: mkdtempSync(join(tmpdir(), 'waf-image-')),
  rules: [{ path: 'crs/rules/a.conf', content: Buffer.from('# a\n') }],
  documents: new Map([['usr/share/doc/waf/sbom.cdx.json', '{}']]),
});

interface Entry {
  readonly mode: number;
  readonly owner: number;
  readonly content: Buffer;
}

/** The entries of an archive, by name. */
function entriesOf(tar: Buffer): Map<string, Entry> {
  const found = new Map<string, Entry>();
  const octal = (at: number, length: number): number =>
    Number.parseInt(tar.toString('latin1', at, at + length - 1), 8);
  for (let at = 0; at < tar.length && tar[at] !== 0;) {
    const name = tar.toString('utf8', at, at + 100).replace(/\0+$/, '');
    const size = octal(at + 124, 12);
    const content = tar.subarray(at + 512, at + 512 + size);
    found.set(name, { mode: octal(at + 100, 8), owner: octal(at + 108, 8), content });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return found;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

/** A small dynamic program stands for Node, which is 100 MB: it is packed three times. */
const node = process.execPath;
process.execPath = '/bin/true';
afterAll(() => {
  process.execPath = node;
});

describe('an image', () => {
  const built = buildImage(options(programFolder()));
  const archive = entriesOf(readFileSync(built.path));
  const blob = ({ digest, size }: Descriptor): Buffer => {
    const { content } = archive.get(`blobs/${digest.replace(':', '/')}`)!;
    expect([`sha256:${sha256(content)}`, content.length]).toEqual([digest, size]);
    return content;
  };
  const json = (bytes: Buffer) => JSON.parse(bytes.toString()) as Record<string, unknown>;
  const index = json(archive.get('index.json')!.content);
  const manifest = json(blob((index['manifests'] as Descriptor[])[0]!));
  const config = json(blob(manifest['config'] as Descriptor));
  const tars = (manifest['layers'] as Descriptor[]).map((one) => gunzipSync(blob(one)));
  const files = new Map(tars.flatMap((tar) => [...entriesOf(tar)]));

  test('is a layout whose digests and sizes fit', () => {
    expect(json(archive.get('oci-layout')!.content)).toEqual({ imageLayoutVersion: '1.0.0' });
    expect(built.digest).toBe((index['manifests'] as Descriptor[])[0]!.digest);
    const { diff_ids: ids } = config['rootfs'] as { diff_ids: string[] };
    expect(ids).toEqual(tars.map((tar) => `sha256:${sha256(tar)}`));
  });

  test('runs as an unprivileged user, with one volume and a health check', () => {
    expect(config['config']).toMatchObject({
      User: '10001:10001',
      Entrypoint: ['/usr/lib/waf/node', '/usr/lib/waf/app/.build/control/cli/main.js'],
      Volumes: { '/var/lib/waf': {} },
      Labels: { 'org.opencontainers.image.version': '1.2.3' },
    });
    const { Healthcheck } = config['config'] as { Healthcheck: { Test: string[] } };
    expect(Healthcheck.Test.slice(0, 3)).toEqual(['CMD', '/usr/lib/waf/node', '-e']);
  });

  test('has the runtime, its C library, the program and its rules', () => {
    for (const name of [
      ...['usr/lib/waf/node', 'usr/lib/waf/lib/libc.so.6', 'etc/waf/waf.yaml', 'etc/passwd'],
      ...['usr/lib/waf/app/.build/control/cli/main.js', 'usr/lib/waf/crs/rules/a.conf'],
    ])
      expect([name, files.has(name)]).toEqual([name, true]);
    expect([...files.keys()].some((name) => name.includes('ld-linux'))).toBe(true);
  });

  test('has no shell, and lets its user write to the volume and /tmp only', () => {
    const names = [...files.keys()];
    expect(names.filter((name) => /(?:^|\/)(?:sh|bash|dash|busybox|waf\/waf)$/.test(name))).toEqual(
      [],
    );
    const owned = names.filter((name) => files.get(name)!.owner !== 0);
    expect(owned.sort()).toEqual(['tmp/', 'var/lib/waf/']);
    expect(names.filter((name) => (files.get(name)!.mode & 0o022) !== 0)).toEqual([]);
  });

  test('is the same for the same files, and another for others', () => {
    const folder = programFolder();
    utimesSync(join(folder, 'package.json'), 1, 1);
    expect(buildImage(options(folder)).sha256).toBe(built.sha256);
    writeFileSync(join(folder, '.build/control/cli/main.js'), 'other');
    expect(buildImage(options(folder)).sha256).not.toBe(built.sha256);
  });

  test('its bill of materials names the packages that run, its provenance the image', () => {
    const root = join(import.meta.dirname, '../../..');
    const bill = billOfMaterials(root, '1.2.3', { openssl: '3.0' });
    const { bomFormat, components } = JSON.parse(bill) as {
      readonly bomFormat: string;
      readonly components: readonly { readonly name: string; readonly purl?: string }[];
    };
    expect(bomFormat).toBe('CycloneDX');
    const names = components.map(({ name }) => name);
    for (const name of ['node', 'lmdb', '@node-rs/argon2', 'openssl', 'libhs.so.5', 'libc.so.6'])
      expect(names).toContain(name);
    expect(names).not.toContain('vitest');
    expect(components.find(({ name }) => name === 'lmdb')?.purl).toMatch(/^pkg:npm\/lmdb@\d/);
    const { subject } = JSON.parse(provenance(root, '1.2.3', built)) as {
      readonly subject: readonly { readonly digest: { readonly sha256: string } }[];
    };
    expect(subject.map(({ digest }) => digest.sha256)).toEqual([
      built.digest.slice('sha256:'.length),
      built.sha256,
    ]);
  });
});
