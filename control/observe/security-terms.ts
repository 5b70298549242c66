/**
 * What the index of security events holds, straight from a fact: the whole event is only made when
 * somebody reads it. Gives what `termsOf` gives of the event; a test compares both.
 */

import { SecurityFactSchema } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { pathShape } from './attack-types.ts';
import type { EventTerms } from './events/event-kind.ts';
import { networkTerms, pathTerms } from './events/event-terms.ts';
import { FactReader, textOfBytes, wire } from './events/fact-reader.ts';
import {
  agentTerms,
  noTerms,
  pathOfTarget,
  termsOfText,
  withoutPort,
} from './events/fact-terms.ts';
import { KnownTexts } from './events/known-texts.ts';
import { KnownMatches } from './known-matches.ts';

export { ruleTextSeparator } from './known-matches.ts';

const protocol: readonly string[] = ['protocol'];
const outcomes = { blocked: ['blocked'], passed: ['passed'] } as const;
const factField = SecurityFactSchema.field;
const fields = {
  requestId: factField.requestId.number,
  siteId: factField.siteId.number,
  clientIp: factField.clientIp.number,
  method: factField.method.number,
  host: factField.host.number,
  target: factField.target.number,
  status: factField.status.number,
  blocked: factField.blocked.number,
  outcome: factField.outcome.number,
  refusal: factField.refusal.number,
  guards: factField.guards.number,
  matches: factField.matches.number,
} as const;

/** One for each thread: readers and what was met before are used again for every fact. */
const reader = new FactReader();
const matchReader = new FactReader();
const knownMatches = new KnownMatches();
const knownTexts = new KnownTexts(4096);
const knownAddresses = new KnownTexts(4096);
/** What was read of the fact at hand. */
const fact = {
  ...{ requestId: '', path: '', status: 0, blocked: false, refused: false, refusal: false },
  ...{ guards: false, site: noTerms, client: noTerms, method: noTerms, host: noTerms },
  matches: [] as ReturnType<KnownMatches['read']>[],
};

/** Values by index field. Errors: those of a damaged fact. Cost: about 5 us. */
export function securityTerms(bytes: Uint8Array, agentId: string): EventTerms {
  readFact(bytes);
  const { client, path, status } = fact;
  const host = withoutPort(fact.host);
  const found = knownMatches.together(fact.matches);
  const first =
    found.attackTypes.length > 0
      ? found.firstAttack
      : fact.refusal && !fact.guards
        ? protocol
        : noTerms;
  return {
    request: termsOfText(fact.requestId),
    client,
    net: networkTerms(client[0] ?? ''),
    site: fact.site,
    agent: agentTerms(agentId),
    rule: found.rules,
    rule_text: found.ruleTexts,
    attack: found.attackTypes.length > 0 ? found.attackTypes : first,
    first_attack: first,
    target: [`${fact.method[0] ?? ''} ${host[0] ?? ''}${pathShape(path)}`],
    path: termsOfText(path),
    dir: pathTerms(path),
    host,
    method: fact.method,
    outcome: fact.blocked || fact.refused ? outcomes.blocked : outcomes.passed,
    severity: found.severity,
    status: status === 0 ? noTerms : [String(status)],
  };
}

/** The fields that are indexed; all others are skipped. */
function readFact(bytes: Uint8Array): void {
  fact.requestId = fact.path = '';
  fact.status = 0;
  fact.blocked = fact.refused = fact.refusal = fact.guards = false;
  fact.site = fact.client = fact.method = fact.host = noTerms;
  fact.matches.length = 0;
  reader.open(bytes);
  while (reader.next()) {
    if (reader.type === wire.bytes) readSpan(bytes, reader.field);
    else if (reader.type !== wire.varint) reader.skip();
    else if (reader.field === fields.status) fact.status = reader.varint() >>> 0;
    else if (reader.field === fields.blocked) fact.blocked = reader.varint() !== 0;
    else reader.skip();
  }
}

function readSpan(bytes: Uint8Array, field: number): void {
  reader.span();
  const { from, to } = reader;
  switch (field) {
    case fields.matches:
      fact.matches.push(knownMatches.read(matchReader.open(bytes, from, to)));
      return;
    case fields.requestId:
      fact.requestId = textOfBytes(bytes, from, to);
      return;
    case fields.target:
      fact.path = pathOfTarget(bytes, from, to);
      return;
    case fields.siteId:
      fact.site = knownTexts.list(bytes, from, to);
      return;
    case fields.clientIp:
      fact.client = knownAddresses.list(bytes, from, to);
      return;
    case fields.method:
      fact.method = knownTexts.list(bytes, from, to);
      return;
    case fields.host:
      fact.host = knownTexts.list(bytes, from, to);
      return;
    case fields.outcome:
      fact.refused = knownTexts.text(bytes, from, to) === 'refused';
      return;
    case fields.refusal:
      fact.refusal = to > from;
      return;
    case fields.guards:
      fact.guards = true;
      return;
    default:
  }
}
