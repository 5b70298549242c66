/** `waf release index`: lists signed archives for controllers that look for updates. */

import { counted } from '../../../base/counted.ts';
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { makeSignature, readSignature } from '../../../base/minisign.ts';
import {
  indexComment,
  readReleaseComment,
  releaseIndexFormat,
} from '../../../base/release-facts.ts';
import { releaseLimits } from '../../limits/release-limits.ts';
import { readReleaseKey } from '../../release/release-key.ts';
import { textFlag, type CommandDefinition } from '../command.ts';
import { badFlag, readInputText, unreadableText } from '../input.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** The command. */
export const releaseIndexCommand: CommandDefinition = {
  path: ['release', 'index'],
  summary: 'List signed archives in a signed index, which controllers ask for updates',
  help:
    'Asks no controller. Serve the index, its .minisig and the archives over HTTPS; controllers\n' +
    'name the index in the setting release.index_url. Sign it again before it expires.\n' +
    'Example: waf release index waf-1.2.3.tar.gz --url https://example.com/waf --key k.pem --out index.json',
  arguments: [{ name: '<archive...>', summary: '.tar.gz with its .minisig beside it' }],
  flags: [
    { flags: '--url <url>', summary: 'folder in which archives are served', required: true },
    { flags: '--key <file>', summary: 'private key, from waf release key', required: true },
    { flags: '--passphrase-file <file>', summary: 'file whose first line is its passphrase' },
    { flags: '--out <file>', summary: 'index to write', required: true },
    { flags: '--days <n>', summary: 'how long it is good, 1 to 366', default: '30' },
  ],
  run: async ({ output }, archives, flags) => {
    const base = (textFlag(flags, 'url') ?? '').replace(/\/+$/, '');
    if (!URL.canParse(base)) throw badFlag('--url: give the URL of a folder');
    const days = Number(textFlag(flags, 'days'));
    if (!Number.isInteger(days) || days < 1 || days > 366) throw badFlag('--days: 1 to 366');
    const most = releaseLimits.indexReleasesMax;
    if (archives.length > most) throw badFlag(`at most ${most} archives`);
    const [file, secret] = [textFlag(flags, 'key') ?? '', textFlag(flags, 'passphraseFile')];
    const passphrase = secret === undefined ? '' : (readInputText(secret).split('\n', 1)[0] ?? '');
    const key = readReleaseKey(readInputText(file), passphrase.trimEnd(), file);
    const releases = [];
    for (const archive of archives) releases.push(await entryOf(archive, base));
    const text = `${JSON.stringify({ format: releaseIndexFormat, releases }, null, 2)}\n`;
    const digest = createHash('blake2b512').update(text).digest();
    const now = Date.now();
    const comment = indexComment(now, now + days * dayMs);
    const path = textFlag(flags, 'out') ?? '';
    writeFileSync(path, text);
    writeFileSync(`${path}.minisig`, makeSignature(key.number, key.seed, digest, comment));
    output.line(
      `wrote ${path} and ${path}.minisig, good for ${counted(days, 'day')}; key ${key.publicText}`,
    );
    return 0;
  },
};

/** What the index says of an archive. Errors: AppError bad_flag. */
async function entryOf(archive: string, base: string) {
  const signature = readSignatureOf(archive);
  const read = readSignature(signature);
  const facts = typeof read === 'string' ? null : readReleaseComment(read.trustedComment);
  if (facts === null) throw badFlag(`${archive}.minisig is no signature of a release`);
  const hash = createHash('sha256');
  for await (const piece of createReadStream(archive)) hash.update(piece as Buffer);
  const url = `${base}/${encodeURIComponent(basename(archive))}`;
  const sizeBytes = statSync(archive).size;
  return { ...facts, url, sha256: hash.digest('hex'), sizeBytes, signature };
}

function readSignatureOf(archive: string): string {
  const path = `${archive}.minisig`;
  try {
    if (statSync(archive).size > 0) return readFileSync(path, 'latin1');
  } catch (error) {
    throw badFlag(`${unreadableText(path, error)}; sign the archive by waf release sign`);
  }
  throw badFlag(`${archive} is empty`);
}
