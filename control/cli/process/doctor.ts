/** `waf doctor`: what is wrong with this installation, worst first. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../base/clock.ts';
import { answers, requireLocal } from '../admin/admin-data.ts';
import { switchFlag, textFlag, type CommandDefinition } from '../command.ts';
import {
  dataFolderCheck,
  firstPasswordCheck,
  managementCertificateCheck,
  restoreCheck,
} from './doctor/data-folder.ts';
import { bySeverity, error, type Check, type Finding, type Patient } from './doctor/finding.ts';
import { addonCheck, buildCheck, nodeCheck, rulesetCheck } from './doctor/installation.ts';
import { descriptorsCheck, diskCheck, memoryCheck } from './doctor/machine.ts';
import { alertsCheck } from './doctor/alerts.ts';
import { evidenceCheck } from './doctor/evidence.ts';
import { controlsCheck } from './doctor/controls.ts';
import { healthCheck, portsCheck, socketCheck } from './doctor/service.ts';
import { rulesetsCheck } from './doctor/rulesets.ts';
import { securityChecks } from './doctor/security.ts';
import { storeCheck } from './doctor/store.ts';

/** Every check; findings of one severity are shown in this order. */
const checks: readonly Check[] = [
  nodeCheck,
  buildCheck,
  addonCheck,
  dataFolderCheck,
  restoreCheck,
  storeCheck,
  socketCheck,
  healthCheck,
  controlsCheck,
  alertsCheck,
  evidenceCheck,
  portsCheck,
  diskCheck,
  memoryCheck,
  descriptorsCheck,
  managementCertificateCheck,
  rulesetCheck,
  rulesetsCheck,
  firstPasswordCheck,
  ...securityChecks,
];

/** The command. */
export const doctorCommand: CommandDefinition = {
  path: ['doctor'],
  summary: 'Diagnose this installation',
  help: `Findings are shown worst first, each with what to do about it. The exit code is 1 when one of
them is an error. Changes nothing.`,
  flags: [
    { flags: '--deep', summary: 'check the whole store, as waf admin verify does' },
    { flags: '--proxy <host:port>', summary: 'as for waf run', default: '127.0.0.1:8080' },
    { flags: '--management <host:port>', summary: 'as for waf run', default: '127.0.0.1:9080' },
  ],
  showsWarnings: true,
  run: async (context, _args, flags) => {
    requireLocal(context);
    const { options, output } = context;
    const running = await answers(options.adminSocket);
    const findings = await examine({
      context,
      running,
      supervisorPid: readSupervisor(options.data),
      nowMs: systemClock.nowMs(),
      addresses: (['proxy', 'management'] as const).map((name) => ({
        text: textFlag(flags, name) ?? '',
        flag: `--${name}`,
      })),
      deep: switchFlag(flags, 'deep'),
    });
    const healthy = findings.every(({ severity }) => severity !== 'error');
    if (output.format !== 'table') {
      output.result({ healthy, findings }, { columns: [], rows: [] });
    } else findings.forEach((finding) => output.line(textOf(finding)));
    return healthy ? 0 : 1;
  },
};

/** One finding for people; names in it may come from outside and reach no terminal as codes. */
function textOf({ severity, check, finding, action }: Finding): string {
  const first = `${severity.padEnd(8)} ${check}: ${finding}`;
  const lines = action === '' ? [first] : [first, `${' '.repeat(9)}to do: ${action}`];
  return lines.map((line) => line.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')).join('\n');
}

/** Runs every check, worst findings first. */
async function examine(patient: Patient): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of checks) {
    try {
      findings.push(...(await check.look(patient)));
    } catch (thrown) {
      findings.push(error(check.name, `it could not be looked at: ${reasonOf(thrown)}`, ''));
    }
  }
  return bySeverity(findings);
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : 'unknown';
}

/** Process of the supervisor that claimed the data folder; 0 when it is gone. */
function readSupervisor(data: string): number {
  try {
    const pid = Number(readFileSync(join(data, 'supervisor.pid'), 'utf8'));
    process.kill(pid, 0);
    return pid;
  } catch {
    return 0;
  }
}
