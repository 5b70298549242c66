/** What a reader must know of the machine and the versions that figures come from. */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';

/** The machine and the programs of a run. */
export interface MachineFacts {
  readonly cpu: string;
  readonly cpus: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  /** Name to version of every program that took part. */
  readonly versions: Readonly<Record<string, string>>;
  /** One-minute load average when the run began: other work disturbs the figures. */
  readonly loadBefore: number;
  readonly date: string;
  /** Commit of this checkout; empty outside a checkout. */
  readonly commit: string;
}

/** Looks at the machine. `programs`: name to command whose output holds the version. */
export function readMachineFacts(
  programs: Readonly<Record<string, readonly string[]>> = {},
): MachineFacts {
  const versions = Object.entries(programs).flatMap(([name, command]) => {
    const version = versionOf(command);
    return version === '' ? [] : [[name, version]];
  });
  return {
    cpu: (cpus()[0]?.model ?? 'unknown').trim(),
    cpus: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${systemName()}, Linux ${release()}, ${arch()}`,
    node: process.version,
    versions: Object.fromEntries(versions) as Record<string, string>,
    loadBefore: loadavg()[0] ?? 0,
    date: new Date().toISOString().slice(0, 10),
    commit: commitOf(outputOf(['git', 'rev-parse', '--short', 'HEAD'])),
  };
}

/** One line for people. */
export function describeMachine(facts: MachineFacts): string {
  const versions = Object.entries(facts.versions).map(([name, version]) => `${name} ${version}`);
  return [
    `${facts.cpu}, ${facts.cpus} CPUs, ${facts.memoryGb} GB`,
    facts.system,
    `Node ${facts.node}`,
    ...versions,
    `load before ${facts.loadBefore.toFixed(2)}`,
    `${facts.date}${facts.commit === '' ? '' : `, commit ${facts.commit}`}`,
  ].join('; ');
}

function systemName(): string {
  try {
    const found = /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(readFileSync('/etc/os-release', 'utf8'));
    return found?.[1] ?? 'unknown';
  } catch {
    return 'unknown';
  }
}

/** The commit that git printed; empty for what it says outside a checkout. */
export function commitOf(output: string): string {
  return /^[0-9a-f]{7,64}$/.exec(output.trim())?.[0] ?? '';
}

function versionOf(command: readonly string[]): string {
  return /\d+(?:\.\d+)+[-\w.+~]*/.exec(outputOf(command))?.[0] ?? '';
}

/** Both outputs of a short command; empty when it cannot be run. */
function outputOf(command: readonly string[]): string {
  try {
    const quoted = command.map((word) => `'${word}'`).join(' ');
    return execFileSync('sh', ['-c', `${quoted} 2>&1; true`], { encoding: 'utf8' });
  } catch {
    return '';
  }
}
