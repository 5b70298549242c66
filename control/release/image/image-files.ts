/**
 * What is in the layers of the image: the runtime with the C library, and the program with its
 * rules and settings. No shell, no package manager, nothing that the program does not run.
 */

import { readFileSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { packagedFiles, readPackaged, systemLibraries } from '../package-files.ts';
import type { TarFile } from '../tar-writer.ts';

/** The user that runs the program; any other works, too, where it owns the volume. */
export const imageUser = 10_001;
/** Where the program lies. */
export const programFolder = '/usr/lib/waf';
/** The one folder that is written to. */
export const dataFolder = '/var/lib/waf';

/** What an image is made of. */
export interface ImageContents {
  /** The program: the folder that holds package.json. */
  readonly program: string;
  /** Rules of the built-in ruleset, by their path in it. */
  readonly rules: readonly { readonly path: string; readonly content: Uint8Array }[];
  /** Further files by their path below the root. */
  readonly documents: ReadonlyMap<string, string>;
}

const settings = `# Settings of waf in a container. Another file: mount it here, or set WAF_CONFIG.
data: ${dataFolder}
run:
  proxy: 0.0.0.0:8080
  https: 0.0.0.0:8443
  management: 0.0.0.0:9080
  demo: false
`;
const passwd = `root:x:0:0:root:/:/sbin/nologin
waf:x:${imageUser}:${imageUser}:waf:${dataFolder}:/sbin/nologin
`;
const group = `root:x:0:\nwaf:x:${imageUser}:\n`;

/** The layers, the one that changes least first. */
export function imageLayers(contents: ImageContents): (() => Iterable<TarFile>)[] {
  return [() => runtimeLayer(contents.program), () => programLayer(contents)];
}

function* runtimeLayer(program: string): Generator<TarFile> {
  for (const name of ['etc/', 'etc/waf/', 'lib64/', 'tmp/', 'usr/', 'usr/lib/', 'var/', 'var/lib/'])
    yield { ...folder(name), ...(name === 'tmp/' ? { owner: imageUser } : {}) };
  yield { ...folder('var/lib/waf/'), owner: imageUser };
  yield text('etc/group', group);
  yield text('etc/nsswitch.conf', 'hosts: files dns\n');
  yield text('etc/passwd', passwd);
  for (const path of systemLibraries(program).sort()) {
    const name = basename(path);
    const at = name.startsWith('ld-linux') ? `${loaderFolder}/${name}` : `usr/lib/waf/lib/${name}`;
    yield { name: at, executable: true, content: readFileSync(realpathSync(path)) };
  }
  for (const file of readPackaged(packagedFiles(program))) {
    if (isRuntime(file.name)) yield { ...file, name: `usr/lib/${file.name}` };
  }
}

/** Where the kernel looks for the loader. */
const loaderFolder = process.arch === 'arm64' ? 'lib' : 'lib64';

function* programLayer({ program, rules, documents }: ImageContents): Generator<TarFile> {
  yield text('etc/waf/waf.yaml', settings);
  for (const file of readPackaged(packagedFiles(program))) {
    // The launcher is a script; the entry point needs none.
    if (isRuntime(file.name) || file.name === 'waf/waf') continue;
    yield { ...file, name: `usr/lib/${file.name}` };
  }
  for (const { path, content } of rules) {
    yield { name: `usr/lib/waf/${path}`, executable: false, content };
  }
  for (const [name, content] of documents) yield text(name, content);
}

function isRuntime(name: string): boolean {
  return name === 'waf/node' || name.startsWith('waf/lib/');
}

function text(name: string, content: string): TarFile {
  return { name, executable: false, content: Buffer.from(content) };
}

function folder(name: string): TarFile {
  return { name, executable: true, content: Buffer.alloc(0), isFolder: true };
}
