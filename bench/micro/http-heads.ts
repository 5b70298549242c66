/** The timing of the strict HTTP/1.x head parsers. */

import { SCAN } from '../../engine/http/head-scanner.ts';
import { RequestHeadParser } from '../../engine/http/request-head.ts';
import { ResponseHeadParser } from '../../engine/http/response-head.ts';
import type { MicroGroup } from './group.ts';
import { responseWire, type SampleShape } from './samples.ts';

const callsPerRun = 256;

/** One task a request shape, one for a usual answer. */
export function httpHeadGroup(shapes: readonly SampleShape[]): MicroGroup {
  const parser = new RequestHeadParser();
  const tasks = shapes.map(({ title, requests }) => {
    let at = 0;
    const run = (): void => {
      for (let i = 0; i < callsPerRun; i++) {
        const { wire } = requests[at++ % requests.length]!;
        parser.reset(0);
        if (parser.execute(wire, wire.length) !== SCAN.DONE) throw new Error('head refused');
      }
    };
    return { name: `request: ${title}`, run, calls: callsPerRun };
  });
  return { name: 'http', title: 'HTTP heads', tasks: [...tasks, responseTask()] };
}

function responseTask(): MicroGroup['tasks'][number] {
  const parser = new ResponseHeadParser();
  const wire = responseWire;
  const run = (): void => {
    for (let i = 0; i < callsPerRun; i++) {
      parser.begin(0, false);
      if (parser.execute(wire, wire.length) !== SCAN.DONE) throw new Error('head refused');
    }
  };
  return { name: 'response: five fields', run, calls: callsPerRun };
}
