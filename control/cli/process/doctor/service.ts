/** The checks of the service while it runs, and of its addresses while it does not. */

import { lstatSync } from 'node:fs';
import { AppError } from '../../../../base/errors.ts';
import { readAddress, requireFreePort } from '../../../supervisor/address.ts';
import { error, note, ok, warning, type Check, type Finding, type Patient } from './finding.ts';

/** Somebody answers on the administration socket, and nobody else can. */
export const socketCheck: Check = {
  name: 'administration socket',
  look: ({ context: { options }, running, supervisorPid }) => {
    const name = 'administration socket';
    const path = options.adminSocket;
    if (!running && supervisorPid > 0) {
      const action = 'look at its log; restart waf run';
      return [error(name, `process ${supervisorPid} runs, but ${path} does not answer`, action)];
    }
    if (!running) return [note(name, 'waf is not running: what it serves was not looked at')];
    const { mode } = lstatSync(path);
    if ((mode & 0o077) === 0) return [ok(name, path)];
    const octal = (mode & 0o777).toString(8).padStart(4, '0');
    return [error(name, `others can use ${path} (${octal})`, `chmod 0600 ${path}`)];
  },
};

/** Ports are free for the next start. */
export const portsCheck: Check = {
  name: 'port',
  look: async ({ running, addresses }) => {
    if (running) return [];
    const findings: Finding[] = [];
    for (const { text, flag } of addresses) {
      try {
        await requireFreePort(readAddress(text, flag), flag);
        findings.push(ok('port', `${text} is free (${flag})`));
      } catch (thrown) {
        const message = thrown instanceof AppError ? thrown.message : `${text} cannot be used`;
        findings.push(error('port', message, `stop what uses it, or give another ${flag}`));
      }
    }
    return findings;
  },
};

/** What the service says of itself: store, engine, the configuration it applied last. */
export const healthCheck: Check = {
  name: 'service',
  look: async (patient: Patient) => {
    if (!patient.running) return [];
    const client = await patient.context.api();
    const { checks, version, activeSites } = await client.system.health({});
    const findings = checks.map(({ component, status, message }) =>
      judgePart(component, status, message),
    );
    findings.push(ok('service', `version ${version}, ${activeSites} active sites`));
    if (activeSites === 0) findings.push(note('sites', 'none is active: nothing is served'));
    return findings;
  },
};

const actions: Readonly<Record<string, string>> = {
  engine: 'look at the log of waf run: the engine is started again with back-off',
  configuration: 'fix what the message names; the configuration from before is served',
  origins: 'look at these origins, and at waf upstream health; requests to them get 502 or 504',
  store: 'look at the disk and run waf admin verify',
  siem: 'look at these targets, and at the setting siem.targets; other targets are not affected',
};

/** What the state of a part means. */
export function judgePart(component: string, status: string, message: string): Finding {
  const text = message === '' ? status : message;
  if (status === 'healthy') return ok(component, text);
  const action = actions[component] ?? 'look at the log of waf run';
  return status === 'unhealthy' ? error(component, text, action) : warning(component, text, action);
}
