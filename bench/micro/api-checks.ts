/** The timing of API checks: what an operation adds to a request, by mode and by document. */

import { compileDocument } from '../../control/documents/compile-document.ts';
import { readModel } from '../../control/documents/document-model.ts';
import type { ApiMode } from '../../engine/contract/api-checks.ts';
import type { ConnectionFacts } from '../../engine/contract/message.ts';
import { RequestView } from '../../engine/guard/request-view.ts';
import { RequestHeadParser } from '../../engine/http/request-head.ts';
import { linearPattern } from '../../engine/match/linear-pattern.ts';
import { CheckCounts } from '../../engine/schema/check-counts.ts';
import { checksOf } from '../../engine/schema/fixture.ts';
import { SiteChecks } from '../../engine/schema/site-checks.ts';
import type { MicroGroup, MicroTask } from './group.ts';

const fields = 40;
const callsPerRun = 256;

/** The group; `many` operations in the large document. */
export function apiCheckGroup(many = 2_000): MicroGroup {
  return {
    name: 'api-checks',
    title: `Checks of API documents (JSON of ${fields} fields)`,
    tasks: [
      checkTask('off, 10 operations', 'off', 10),
      checkTask('observed, 10 operations', 'observe', 10),
      checkTask('enforced, 10 operations', 'enforce', 10),
      checkTask(`enforced, ${many} operations`, 'enforce', many),
    ],
  };
}

function documentOf(operations: number) {
  const properties = Object.fromEntries(
    Array.from({ length: fields }, (_, at) => [
      `field${at}`,
      at % 2 === 0
        ? { type: 'string', minLength: 1, maxLength: 40 }
        : { type: 'integer', minimum: 0, maximum: 1_000_000 },
    ]),
  );
  const schema = { type: 'object', required: Object.keys(properties), properties };
  const post = {
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: { 200: { description: 'ok' } },
  };
  const names = Array.from({ length: operations }, (_, at) => `/things${at}/{id}/parts`);
  const paths = Object.fromEntries(names.map((name) => [name, { post }]));
  return { openapi: '3.0.3', info: { title: 'bench', version: '1' }, paths };
}

function checkTask(name: string, mode: ApiMode, operations: number): MicroTask {
  const compiled = compileDocument(readModel(documentOf(operations), '3.0'));
  const placed = compiled.operations.map((one) => {
    return { ...one, key: `${one.method} ${one.template}`, assetId: 'a', host: 'api.test', mode };
  });
  const checks = { ...checksOf(placed), code: compiled.code };
  const site = new SiteChecks(checks, linearPattern, new CheckCounts());
  const values = Array.from({ length: fields }, (_, at) => [
    `field${at}`,
    at % 2 === 0 ? `text of field ${at}` : at,
  ]);
  const body = Buffer.from(JSON.stringify(Object.fromEntries(values)));
  const bytes = Buffer.from(
    `POST /things${operations - 1}/7/parts HTTP/1.1\r\nHost: api.test\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  const head = new RequestHeadParser();
  head.reset(0);
  head.execute(bytes, bytes.length);
  const view = new RequestView();
  const run = (): void => {
    for (let call = 0; call < callsPerRun; call++) {
      view.begin(head, bytes, facts);
      view.host = 'api.test';
      const request = site.begin(view, true)!;
      if (request.bodyBytes > 0) request.checkBody(body);
      request.end();
      if (request.verdicts(false).length > 0) throw new Error('the request was stopped');
    }
  };
  return { name, run, calls: callsPerRun };
}

const facts: ConnectionFacts = {
  clientIp: '192.0.2.1',
  clientPort: 1,
  peerIp: '192.0.2.1',
  serverIp: '192.0.2.2',
  serverPort: 80,
  scheme: 'http',
};
