/**
 * A security event in the shape of ModSecurity's JSON audit log. Source: libmodsecurity 3.0.9,
 * recorded in `modsecurity-audit.json`. What nodes do not send is empty, never made up: the address
 * of the listener. With its evidence, all headers and the body of the request are there, the
 * headers of the response, secrets hidden, and the body that the rules inspected of it, or a
 * message that says why not; without it, Host, User-Agent and Referer. Pure.
 */

import type { SecurityMatch } from '../../proto/gen/waf/runtime/v1/engine_pb.ts';
import type { SecurityFact } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { RequestEvidence } from './evidence-wait.ts';
import { readAnswerBody } from './answer-body.ts';
import { textOf, versionNumber } from './fact.ts';

/** Who writes the record. */
export interface AuditProducer {
  readonly version: string;
  readonly agentId: string;
}

/** The record of one request; `evidence` is null where none is sent. */
export function auditJson(
  fact: SecurityFact,
  producer: AuditProducer,
  evidence: RequestEvidence | null,
): object {
  const answered = evidence === null ? null : readAnswerBody(evidence);
  return {
    transaction: {
      client_ip: fact.clientIp,
      time_stamp: asctime(Number(fact.receivedAtMs)),
      server_id: producer.agentId,
      client_port: fact.clientPort,
      host_ip: '',
      host_port: 0,
      unique_id: fact.requestId,
      request: {
        method: textOf(fact.method),
        http_version: versionNumber(fact.httpVersion),
        uri: textOf(fact.target),
        body: evidence === null ? '' : textOf(evidence.body),
        headers: headersOf(fact, evidence),
      },
      response: {
        body: answered === null ? '' : textOf(answered.body),
        http_code: fact.status,
        headers: joinedFields(evidence?.answerHeaders ?? []),
      },
      producer: {
        modsecurity: '',
        connector: `waf ${producer.version}`,
        secrules_engine: fact.detectionOnly ? 'DetectionOnly' : 'Enabled',
        components: [...new Set(fact.matches.map(({ ver }) => ver))].filter((ver) => ver !== ''),
      },
      messages: [
        ...fact.matches.map(messageOf),
        ...fact.guards.map(({ guard, action, reason, ruleId, detail }) =>
          ownMessage(`${guard}: ${action} (${reason})`, ruleId, textOf(detail)),
        ),
        ...(fact.refusal === '' ? [] : [ownMessage(`refused: ${fact.refusal}`, '', '')]),
        ...cutMessage(evidence),
        ...(answered === null || answered.note === '' ? [] : [ownMessage(answered.note, '', '')]),
      ],
    },
  };
}

/** All headers that are kept, else those of the fact; several values of one are joined. */
function headersOf(fact: SecurityFact, evidence: RequestEvidence | null): object {
  const kept = evidence?.headers ?? [];
  if (kept.length > 0) return joinedFields(kept);
  const known = [
    ['Host', textOf(fact.host)],
    ['User-Agent', textOf(fact.userAgent)],
    ['Referer', textOf(fact.referer)],
  ] as const;
  return Object.fromEntries(known.filter(([, value]) => value !== ''));
}

/** One text a field, as the shape wants it. */
function joinedFields(fields: RequestEvidence['headers']): object {
  return Object.fromEntries(
    fields.map(({ name = '', values = [] }) => {
      return [name, values.join(name.toLowerCase() === 'cookie' ? '; ' : ', ')] as const;
    }),
  );
}

/** Says where a body is not whole. */
function cutMessage(evidence: RequestEvidence | null): object[] {
  if (evidence === null || evidence.body.length >= evidence.bodyBytes) return [];
  const shown = `${evidence.body.length} of ${evidence.bodyBytes} bytes`;
  return [ownMessage(`the request body is cut: ${shown}`, '', '')];
}

function messageOf(match: SecurityMatch): object {
  return {
    message: match.message,
    details: {
      match: matchText(match),
      reference: '',
      ruleId: String(match.ruleId),
      file: match.file,
      lineNumber: String(match.line),
      data: match.data,
      severity: String(Math.max(0, match.severity)),
      ver: match.ver,
      rev: match.rev,
      tags: [...match.tags],
      maturity: String(match.maturity),
      accuracy: String(match.accuracy),
    },
  };
}

/** What no rule said: a guard's decision, or a refusal before inspection. */
function ownMessage(message: string, ruleId: string, data: string): object {
  return {
    message,
    details: {
      ...{ match: '', reference: '', ruleId, file: '', lineNumber: '', data, severity: '4' },
      ...{ ver: '', rev: '', tags: [], maturity: '0', accuracy: '0' },
    },
  };
}

/** What matched, in the words of ModSecurity. */
function matchText({ operator, matched }: SecurityMatch): string {
  const [variable] = matched;
  if (variable === undefined) return '';
  const injection = /^@?detect(SQLi|XSS)$/i.exec(operator)?.[1];
  if (injection !== undefined) return `detected ${injection} using libinjection.`;
  const found = /^(!?)@?(\S*)\s*([\s\S]*)$/.exec(operator);
  const [, negated = '', word = '', parameter = ''] = found ?? [];
  const name = `${negated}${word.charAt(0).toUpperCase()}${word.slice(1)}`;
  const where = `against variable \`${textOf(variable.name)}'`;
  const value = `(Value: \`${textOf(variable.value)}' )`;
  return `Matched "Operator \`${name}' with parameter \`${parameter}' ${where} ${value}`;
}

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The form of C's `asctime`, as ModSecurity writes it; always in UTC. */
function asctime(atMs: number): string {
  const date = new Date(atMs);
  const day = String(date.getUTCDate()).padStart(2);
  const clock = date.toISOString().slice(11, 19);
  const head = `${days[date.getUTCDay()]} ${months[date.getUTCMonth()]} ${day}`;
  return `${head} ${clock} ${date.getUTCFullYear()}`;
}
