/**
 * The timing of bodies larger than the inspection budget: one of each kind within the budget of the
 * Light template, and with all that it inspects past it. Figures are per KB of body.
 */

import {
  builtInCrsFolder,
  readRulesetFolder,
} from '../../control/publish/rulesets/ruleset-folder.ts';
import { renderPolicy } from '../../control/domain/policy/policy-seclang.ts';
import { builtInTemplates } from '../../control/domain/policy/policy-templates.ts';
import { buildEngine } from '../../engine/policies/policy-build.ts';
import type { PolicyEngine } from '../../engine/rules/run/policy-engine.ts';
import { FreshText } from '../e2e/fresh-text.ts';
import type { Ruleset } from '../e2e/ruleset.ts';
import { inspectNow } from './evaluation.ts';
import type { MicroGroup, MicroTask } from './group.ts';
import { buildOptions } from './policy.ts';
import { parseSample, type SampleRequest } from './samples.ts';

/** A kind of body: `piece` is made anew until the body is as long as asked. */
interface LargeBody {
  readonly name: string;
  readonly type: string;
  readonly before: string;
  readonly piece: string;
  readonly between: string;
  readonly after: string;
  /** What the placeholders of `piece` are written as. */
  readonly encode?: (text: string) => string;
}

const kilobyte = 1024;
const budgetKilobytes = 64;
const excessKilobytes = 1024;
/** Bodies that take turns; together they hold more values than a thread remembers. */
const bodiesInTurn = 4;

const form = 'application/x-www-form-urlencoded';
const formWords = (text: string): string => text.replaceAll(' ', '+').replaceAll(',', '%2C');
const base64 = (text: string): string => Buffer.from(text, 'hex').toString('base64');
const paragraph = '{{sentences 300}} {{sentences 420}}';

const kinds: readonly LargeBody[] = [
  {
    name: 'JSON, short values',
    type: 'application/json',
    before: '{"items":[',
    piece:
      '{"id":{{digits 8}},"sku":"SH-{{digits 6}}","title":"{{words 18}}","price":{{digits 2}}.9,' +
      '"gift":false,"email":"{{words 6}}{{digits 3}}@example.com"}',
    between: ',',
    after: ']}',
  },
  {
    name: 'JSON, long texts',
    type: 'application/json',
    before: '{"pages":[',
    piece: `{"title":"{{words 30}}","text":"${paragraph}\\n${paragraph}"}`,
    between: ',',
    after: ']}',
  },
  {
    name: 'form',
    type: form,
    before: '',
    piece: 'name{{digits 4}}={{words 24}}&amount={{digits 6}}&note={{sentences 60}}',
    between: '&',
    after: '',
    encode: formWords,
  },
  {
    name: 'XML',
    type: 'application/xml',
    before: '<?xml version="1.0"?><order>',
    piece:
      '<item id="{{digits 8}}"><title>{{words 18}}</title><price>{{digits 4}}</price>' +
      '<note>{{sentences 60}}</note></item>',
    between: '',
    after: '</order>',
  },
  {
    name: 'prose as text/plain',
    type: 'text/plain',
    before: '',
    piece: paragraph,
    between: '\n\n',
    after: '\n',
  },
  {
    name: 'base64 in a form field',
    type: form,
    before: 'file=',
    piece: '{{hex 9000}}',
    between: '',
    after: '',
    encode: (hex) => encodeURIComponent(base64(hex)),
  },
  {
    name: 'base64 in JSON',
    type: 'application/json',
    before: '{"file":"',
    piece: '{{hex 9000}}',
    between: '',
    after: '"}',
    encode: base64,
  },
  {
    name: 'multipart field',
    type: 'multipart/form-data; boundary=B0undary',
    before: '--B0undary\r\nContent-Disposition: form-data; name="text"\r\n\r\n',
    piece: paragraph,
    between: '\r\n',
    after: '\r\n--B0undary--\r\n',
  },
  {
    name: 'random bytes',
    type: 'application/octet-stream',
    before: '',
    piece: '{{hex 9000}}',
    between: '',
    after: '',
    encode: (hex) => Buffer.from(hex, 'hex').toString('latin1'),
  },
  {
    name: 'zeros',
    type: 'application/octet-stream',
    before: '',
    piece: '\0'.repeat(4096),
    between: '',
    after: '',
  },
];

/** The Light template with a rule set, as control publishes it; CRS of Debian for 3.3.4. */
export function buildLight(
  { name, title }: Ruleset,
  crs4: string,
  cacheFolder: string,
): PolicyEngine {
  const folder = name.startsWith('crs4') ? crs4 : builtInCrsFolder;
  const template = builtInTemplates.find((one) => one.name === 'Light')!;
  const { version, includes, files } = readRulesetFolder(folder);
  const { seclang } = renderPolicy(template, { version, includes });
  const source = {
    id: name,
    name: title,
    revision: '1',
    seclangEntry: seclang,
    files: new Map(files.map((file) => [file.path, file.content])),
  };
  return buildEngine(source, buildOptions(cacheFolder));
}

/** One task a kind and size. */
export function largeBodyGroup(engine: PolicyEngine): MicroGroup {
  const tasks = kinds.flatMap((kind, at) => [
    bodyTask(kind, at, budgetKilobytes, engine),
    bodyTask(kind, at, budgetKilobytes + excessKilobytes, engine),
  ]);
  return {
    name: 'large-bodies',
    title: 'Bodies within the budget of the Light template and past it (µs per KB of body)',
    tasks,
  };
}

function bodyTask(
  kind: LargeBody,
  seed: number,
  kilobytes: number,
  engine: PolicyEngine,
): MicroTask {
  // Made when the task is first run: all bodies of all kinds together are 50 MB.
  let requests: SampleRequest[] = [];
  let at = 0;
  const run = (): void => {
    if (requests.length === 0) requests = requestsOf(kind, seed, kilobytes);
    const request = requests[at++ % requests.length]!;
    // Usual text may hold what CRS takes for an attack: all of it was scanned by then.
    inspectNow(request, engine);
  };
  return { name: `${kind.name}, ${kilobytes} KB`, run, calls: kilobytes };
}

function requestsOf(kind: LargeBody, seed: number, kilobytes: number): SampleRequest[] {
  return Array.from({ length: bodiesInTurn }, (_one, number) => {
    const body = makeBody(kind, new FreshText(seed, number), kilobytes * kilobyte);
    const head = [
      'POST /upload HTTP/1.1',
      'Host: www.example.com',
      'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
      'Accept: */*',
      `Content-Type: ${kind.type}`,
      `Content-Length: ${body.length}`,
    ].join('\r\n');
    const bytes = Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]);
    return parseSample({ bytes, expect: { plain: 200, waf: 200 } });
  });
}

/** Whole pieces, as many as fit. */
function makeBody(kind: LargeBody, fresh: FreshText, bytes: number): Buffer {
  const { before, piece, between, after, encode } = kind;
  const pieces: string[] = [];
  let length = before.length + after.length;
  for (;;) {
    const next = fresh.fill(piece, encode);
    length += next.length + between.length;
    if (length > bytes) return Buffer.from(before + pieces.join(between) + after, 'latin1');
    pieces.push(next);
  }
}
