/** Entry of the engine process: reads options, starts, serves, and stops in order. */

import { closeSync } from 'node:fs';
import { toAppError } from '../base/errors.ts';
import { engineLimits } from './base/limits.ts';
import { readNodeProgram } from '../base/node-program.ts';
import {
  notifySupervisor,
  onReopenAsked,
  onStopAsked,
  surviveClosedOutput,
} from '../base/supervisor-channel.ts';
import { readFirstBundle } from './bundle/first-bundle.ts';
import { noRoutes } from './contract/site.ts';
import { readOptions } from './process/options.ts';
import { makeLink, openNode, serveControl, serveEnrolled } from './control-wiring.ts';
import { candidateOf, EngineParts } from './engine-parts.ts';
import { startThreads } from './traffic.ts';

async function start(parts: EngineParts): Promise<void> {
  const { options, rollouts, log } = parts;
  const { bundle, controller, host } = options;
  const node = openNode(parts);
  if (controller !== null || node !== null) parts.link = makeLink(parts, controller ?? '', node);
  const first = readFirstBundle(bundle, parts.bundles, log, node);
  const candidate = first === null ? null : candidateOf(parts, first);
  // A program on trial compiles all policies before it takes clients from the one before it.
  const complete = bundle !== null || readNodeProgram(options.data).state === 'trial';
  const routes = candidate ? await rollouts.prepareFirst(candidate, complete) : noRoutes;
  parts.threads = await startThreads(parts, routes);
  parts.tickets.start((keys) => parts.threads?.setTicketKeys(keys));
  if (candidate !== null) rollouts.firstServed(candidate, complete);
  if (parts.link !== null && node !== null) serveEnrolled(parts, parts.link, node);
  else if (parts.link !== null) await serveControl(parts, parts.link);
  const { port, securePort } = parts.threads;
  log.info('listening', { host, port, securePort });
  notifySupervisor({ type: 'ready', port });
}

async function stop(parts: EngineParts): Promise<void> {
  // With the last descriptor of a socket closed, the kernel refuses new clients.
  const { listenFds, secure } = parts.options;
  for (const fd of [...listenFds, ...(secure?.fds ?? [])]) closeSync(fd);
  parts.tickets.stop();
  parts.rollouts.close();
  parts.origins.close();
  await parts.threads?.drain();
  await parts.link?.close();
  for (const close of parts.closers.reverse()) await close();
  await parts.planner.close();
  await parts.rateExchange?.close();
  await parts.rates?.close();
  await parts.events?.close();
  await parts.accessLog?.close();
}

surviveClosedOutput();
try {
  const parts = new EngineParts(readOptions(process.argv.slice(2)));
  onStopAsked(() => {
    setTimeout(() => process.exit(1), engineLimits.stopDeadlineMs).unref();
    void stop(parts).then(() => process.exit(0));
  });
  onReopenAsked(() => parts.accessLog?.reopen());
  await start(parts);
} catch (thrown) {
  const { code, message } = toAppError(thrown);
  notifySupervisor({ type: 'fatal', message });
  // A supervisor says it.
  if (process.send === undefined) process.stderr.write(`engine: ${message} (${code})\n`);
  process.exit(1);
}
