/** `waf release pack|key|sign`: what an operator does offline to make a release. */

import { existsSync, statSync, writeFileSync } from 'node:fs';
import { readBuildInfo } from '../../../base/build-info.ts';
import {
  readReleaseComment,
  releaseChannels,
  releaseComment,
} from '../../../base/release-facts.ts';
import { releaseLimits } from '../../limits/release-limits.ts';
import { packProgram } from '../../release/program-package.ts';
import { makeReleaseKey, readReleaseKey, signRelease } from '../../release/release-key.ts';
import {
  textFlag,
  type CommandDefinition,
  type FlagDefinition,
  type FlagValues,
} from '../command.ts';
import { badFlag, readInputText } from '../input.ts';

const passphraseFlag: FlagDefinition = {
  flags: '--passphrase-file <file>',
  summary: 'file whose first line is the passphrase of the key; - for standard input',
};

/** Commands that make releases; none of them asks a controller. */
export const releaseSignCommands: readonly CommandDefinition[] = [
  {
    path: ['release', 'pack'],
    summary: 'Pack this program as a release archive, with the Node runtime',
    help: 'Asks no controller. Sign the archive by waf release sign.',
    arguments: [{ name: '<archive>', summary: '.tar.gz to write' }],
    run: async (context, [path = '']) => {
      if (existsSync(path)) throw badFlag(`${path} exists`);
      const { sha256, bytes } = await packProgram(context.packageFolder, path);
      context.output.line(`wrote ${path}: ${bytes} bytes, SHA-256 ${sha256}`);
      return 0;
    },
  },
  {
    path: ['release', 'key'],
    summary: 'Make a key that signs releases; print its public half',
    help:
      'Asks no controller. Keep the file offline. Controllers and nodes trust the printed line:\n' +
      'the setting release.trusted_keys, and waf agent release-keys on each node.',
    flags: [
      { flags: '--out <file>', summary: 'file to write, PKCS #8 PEM', required: true },
      passphraseFlag,
    ],
    run: (context, _args, flags) => {
      const path = textFlag(flags, 'out') ?? '';
      const { publicText } = makeReleaseKey(path, readPassphrase(flags));
      context.output.line(publicText);
      return Promise.resolve(0);
    },
  },
  {
    path: ['release', 'sign'],
    summary: 'Sign a release archive, and write its signature beside it',
    help:
      'Asks no controller. What is not named is taken from this program.\n' +
      'Example: waf release sign waf.tar.gz --key release.pem --version 1.2.3',
    arguments: [{ name: '<archive>', summary: '.tar.gz' }],
    flags: [
      { flags: '--key <file>', summary: 'private key, from waf release key', required: true },
      passphraseFlag,
      { flags: '--version <version>', summary: 'version that the archive holds' },
      {
        flags: '--channel <channel>',
        summary: 'default is prerelease for versions such as 1.2.3-rc.1',
        choices: releaseChannels,
      },
      { flags: '--platform <name>', summary: 'as Node names it, for example linux' },
      { flags: '--arch <name>', summary: 'as Node names it, for example x64' },
    ],
    run: async (context, [archive = ''], flags) => {
      const file = textFlag(flags, 'key') ?? '';
      const size = statSync(archive, { throwIfNoEntry: false })?.size ?? 0;
      if (size === 0) throw badFlag(`${archive} is no file, or empty`);
      const most = releaseLimits.packageBytesMax;
      if (size > most) throw badFlag(`${archive} is larger than ${most} bytes`);
      const key = readReleaseKey(readInputText(file), readPassphrase(flags), file);
      const text = await signRelease(key, archive, readFacts(flags));
      writeFileSync(`${archive}.minisig`, text);
      context.output.line(`wrote ${archive}.minisig; its key is ${key.publicText}`);
      return 0;
    },
  },
];

/** Errors: AppError bad_flag. */
function readFacts(flags: FlagValues) {
  const version = textFlag(flags, 'version') ?? readBuildInfo().version;
  const usual = version.includes('-') ? 'prerelease' : 'stable';
  const asked = textFlag(flags, 'channel') ?? usual;
  const facts = readReleaseComment(
    releaseComment({
      version,
      channel: releaseChannels.find((one) => one === asked) ?? usual,
      platform: textFlag(flags, 'platform') ?? process.platform,
      arch: textFlag(flags, 'arch') ?? process.arch,
    }),
  );
  if (facts !== null) return facts;
  const form = 'a version such as 1.2.3, and 1.2.3-rc.1 on the channel prerelease only';
  throw badFlag(`--version, --channel, --platform, --arch: give ${form}`);
}

function readPassphrase(flags: FlagValues): string {
  const file = textFlag(flags, 'passphraseFile');
  return file === undefined ? '' : (readInputText(file).split('\n', 1)[0] ?? '').trimEnd();
}
