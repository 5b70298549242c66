/** The checks of the data folder: who can read and write it, and what lies in it. */

import { accessSync, constants, existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { doctorLimits } from '../../../limits/command-limits.ts';
import { error, note, ok, warning, type Check, type Finding } from './finding.ts';

const check = 'data folder';

/** The folder is ours alone. */
export const dataFolderCheck: Check = {
  name: check,
  look: ({ context: { options } }) => {
    const { data } = options;
    if (!existsSync(data)) return [note(check, `${data} is not there yet: waf run makes it`)];
    const found = lstatSync(data);
    if (!found.isDirectory()) return [error(check, `${data} is no folder`, 'give another --data')];
    const findings = [judgeMode(data, found.mode, true), ...privateFiles(data)];
    try {
      accessSync(data, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch {
      const action = 'run as its owner, or change the owner: chown -R';
      findings.push(error(check, `${data} cannot be written by this user`, action));
    }
    const wrong = findings.filter(({ severity }) => severity !== 'ok');
    return wrong.length > 0 ? wrong : [ok(check, data)];
  },
};

/** What the permissions of a file or folder mean. */
export function judgeMode(path: string, mode: number, isFolder: boolean): Finding {
  const octal = (mode & 0o777).toString(8).padStart(4, '0');
  const action = `chmod ${isFolder ? '0700' : '0600'} ${path}`;
  if ((mode & 0o022) !== 0) return error(check, `others can write to ${path} (${octal})`, action);
  if ((mode & 0o044) === 0) return ok(check, path);
  return (isFolder ? warning : error)(check, `others can read ${path} (${octal})`, action);
}

/** Secrets that others can read; certificates without their keys are no secret. */
function privateFiles(data: string): Finding[] {
  const wrong = [...secretsIn(data, '')]
    .map((path) => judgeMode(path, lstatSync(path).mode, false))
    .filter(({ severity }) => severity !== 'ok');
  const more = wrong.length - doctorLimits.namedMax;
  const named = wrong.slice(0, doctorLimits.namedMax);
  if (more > 0) named.push(error(check, `${more} more files are open to others`, 'chmod -R go= '));
  return named;
}

function* secretsIn(data: string, below: string): Generator<string> {
  for (const entry of readdirSync(join(data, below), { withFileTypes: true })) {
    const path = join(below, entry.name);
    if (entry.isDirectory()) {
      if (path !== join('engine', 'databases')) yield* secretsIn(data, path);
    } else if (entry.isFile() && /(?:\.key|\.wafbackup|password)$/.test(entry.name)) {
      yield join(data, path);
    }
  }
}

/** The password of the first start is for the first start. */
export const firstPasswordCheck: Check = {
  name: 'first password',
  look: ({ context: { options } }) => {
    const path = join(options.data, 'admin-password');
    if (!existsSync(path)) return [];
    const action = 'change it after the first sign-in and remove the file';
    return [note('first password', `The initial password file still exists: ${path}`, action)];
  },
};

/** A restore that was killed is finished by the next start. */
export const restoreCheck: Check = {
  name: 'restore',
  look: ({ context: { options } }) => {
    if (!existsSync(options.data)) return [];
    const left = readdirSync(options.data).filter((name) => name.startsWith('.restore-'));
    if (left.length === 0) return [];
    const action = 'start waf, which finishes it, or run waf admin restore again';
    return [warning('restore', 'a restore was interrupted', action)];
  },
};

/** Certificates of the management listener. */
export const managementCertificateCheck: Check = {
  name: 'management certificate',
  look: ({ context: { options }, nowMs }) => {
    const path = join(options.data, 'tls', 'server.pem');
    if (!existsSync(path)) return [];
    try {
      const ends = Date.parse(new X509Certificate(readFileSync(path)).validTo);
      const action = 'restart waf run, which renews it';
      return [judgeCertificate('management certificate', 'it', ends, nowMs, action)];
    } catch {
      const action = `remove ${path} and restart waf run, which makes another`;
      return [error('management certificate', `${path} cannot be read`, action)];
    }
  },
};

/** What the end of a certificate means. */
export function judgeCertificate(
  name: string,
  subject: string,
  endsMs: number,
  nowMs: number,
  action: string,
): Finding {
  const date = new Date(endsMs).toISOString().slice(0, 10);
  if (endsMs <= nowMs) return error(name, `${subject} ended on ${date}`, action);
  const soon = endsMs - nowMs < doctorLimits.certificateWarningMs;
  return soon ? warning(name, `${subject} ends on ${date}`, action) : ok(name, `until ${date}`);
}
