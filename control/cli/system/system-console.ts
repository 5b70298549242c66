/** `waf system console`: the name at which people reach the console and the API. */

import { commandLineLimits } from '../../limits/command-limits.ts';
import { againWhenChanged, readAt } from '../change-attempts.ts';
import { switchFlag, textFlag, type CommandDefinition } from '../command.ts';
import { badFlag } from '../input.ts';
import { printable } from '../show.ts';

const hostKey = 'console.host';
/** Authorities take their time. */
const patience = { timeoutMs: commandLineLimits.longCallTimeoutMs };

/** The command. */
export const systemConsole: CommandDefinition = {
  path: ['system', 'console'],
  summary: 'Put the console and the API on a name with a managed certificate',
  help:
    'Example: waf system console --host waf.example.com\n' +
    'Port 80 of the name has to reach the proxy, for the proof of the name. The certificate is\n' +
    'shown to clients that ask for this name; all others get that of the listener. The listener\n' +
    'is on 127.0.0.1 until `waf run --management 0.0.0.0:9080` opens it. Without flags: show it.',
  flags: [
    { flags: '--host <name>', summary: 'name that leads to this machine' },
    { flags: '--email <address>', summary: 'contact of the account at the authority' },
    { flags: '--off', summary: 'show the certificate of the listener to everybody again' },
  ],
  run: async (context, _args, flags) => {
    const host = textFlag(flags, 'host')?.toLowerCase() ?? '';
    const off = switchFlag(flags, 'off');
    if (off && host !== '') throw badFlag('give --host or --off, not both');
    const { system, certs } = await context.api();
    if (host === '' && !off) {
      const { settings } = await system.getSystemSettings({});
      const shown = settings?.values?.[hostKey];
      const name = typeof shown === 'string' ? shown : '';
      context.output.line(
        name === '' ? 'No name is set.' : `The console is at ${printable(name)}.`,
      );
      return 0;
    }
    await againWhenChanged(async () => {
      const { settings } = await system.getSystemSettings({});
      const expectedUpdatedAt = readAt(settings?.updatedAt);
      await system.updateSystemSettings({ values: { [hostKey]: host }, expectedUpdatedAt });
    });
    if (off) {
      context.output.line('Every client gets the certificate of the listener.');
      return 0;
    }
    const { items } = await certs.listCerts({ query: host });
    const known = items.some(({ managed, dnsNames }) => managed && dnsNames.includes(host));
    if (!known) {
      const email = textFlag(flags, 'email') ?? '';
      await certs.issueACMECert({ name: host, dnsNames: [host], email }, patience);
    }
    context.output.line(`The console shows the certificate of ${host} to clients of that name.`);
    context.output.note('Open it to the network with: waf run --management 0.0.0.0:9080');
    return 0;
  },
};
