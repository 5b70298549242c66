/** The timing of whole inspections: head, body and end of a request through a policy. */

import type { InspectionSession, Inspector } from '../../engine/contract/inspection.ts';
import type { PhaseResult } from '../../engine/contract/inspection-failure.ts';
import type { MicroGroup, MicroTask } from './group.ts';
import { sampleResponse, type SampleRequest, type SampleShape } from './samples.ts';

/** Requests in flight where answers come later; the same as the whole-proxy benchmark's. */
const inFlight = 16;
const callsPerRun = 32;

/** Inspection on the calling thread. */
export function inlineGroup(shapes: readonly SampleShape[], inspector: Inspector): MicroGroup {
  return {
    name: 'evaluation-inline',
    title: 'Inspection on the calling thread (CRS 4 PL1)',
    tasks: [
      ...shapes.map((shape) => inlineTask(shape, inspector)),
      ...shapes
        .filter(({ name }) => name === 'get-six-arguments')
        .map((shape) => answeredTask(shape, inspector)),
    ],
  };
}

function inlineTask({ title, requests }: SampleShape, inspector: Inspector): MicroTask {
  for (const request of requests) checkVerdict(title, request, inspectNow(request, inspector));
  let at = 0;
  const run = (): void => {
    for (let i = 0; i < callsPerRun; i++) inspectNow(requests[at++ % requests.length]!, inspector);
  };
  return { name: title, run, calls: callsPerRun };
}

/** The same with phases 3 and 4 of a usual answer, whose body is not read. */
function answeredTask({ title, requests }: SampleShape, inspector: Inspector): MicroTask {
  const response = sampleResponse();
  let at = 0;
  const run = (): void => {
    for (let i = 0; i < callsPerRun; i++) {
      const { snapshot, body } = requests[at++ % requests.length]!;
      const session = inspector.open(snapshot);
      if (blocks(session.requestHead()) || blocks(session.requestBody(body))) {
        throw new Error(`${title}: blocked`);
      }
      if (!blocks(session.responseHead(response))) void session.responseBody(null);
      void session.finish();
    }
  };
  return { name: `${title}, and its answer`, run, calls: callsPerRun };
}

/** Inspection in worker threads, `inFlight` requests at a time. */
export async function pooledGroup(
  shapes: readonly SampleShape[],
  inspector: Inspector,
  close: () => Promise<void>,
): Promise<MicroGroup> {
  const tasks: MicroTask[] = [];
  for (const shape of shapes) tasks.push(await pooledTask(shape, inspector));
  return {
    name: 'evaluation-pool',
    title: `Inspection in one pool thread, ${inFlight} requests in flight (CRS 4 PL1)`,
    tasks,
    close,
  };
}

async function pooledTask(
  { title, requests }: SampleShape,
  inspector: Inspector,
): Promise<MicroTask> {
  for (const request of requests) {
    checkVerdict(title, request, await inspect(request, inspector));
  }
  let at = 0;
  const lane = async (): Promise<void> => {
    for (let i = 0; i < callsPerRun; i++) {
      await inspect(requests[at++ % requests.length]!, inspector);
    }
  };
  const run = async (): Promise<void> => {
    await Promise.all(Array.from({ length: inFlight }, lane));
  };
  return { name: title, run, calls: callsPerRun * inFlight };
}

/** Figures of an inspection that lets attacks through would be worthless. */
function checkVerdict(title: string, request: SampleRequest, blocked: boolean): void {
  if (blocked === request.attack) return;
  const found = blocked ? 'blocked' : 'passed';
  throw new Error(`${title}: a request was ${found} that should not have been`);
}

/** True when blocked. Without `await`: answers are there at once. */
export function inspectNow({ snapshot, body }: SampleRequest, inspector: Inspector): boolean {
  const session = inspector.open(snapshot);
  let blocked = blocks(session.requestHead());
  if (!blocked) blocked = blocks(session.requestBody(body));
  void session.finish();
  return blocked;
}

function blocks(verdict: ReturnType<InspectionSession['requestHead']>): boolean {
  if (verdict instanceof Promise) throw new Error('an answer on this thread came late');
  return verdict.action !== 'pass';
}

async function inspect({ snapshot, body }: SampleRequest, inspector: Inspector): Promise<boolean> {
  const session = inspector.open(snapshot);
  let verdict: PhaseResult = await session.requestHead();
  if (verdict.action === 'pass') verdict = await session.requestBody(body);
  const record = await session.finish();
  if (record.failure !== undefined) throw new Error(`inspection failed: ${record.failure}`);
  return verdict.action !== 'pass';
}
