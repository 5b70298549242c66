/**
 * Holds requests to the rules that stand in the .proto files, in every protocol, after the caller
 * was found to be allowed. Rules that need the store stand in the domain. The library is loaded
 * with the first request that has rules; what it makes of a message is kept.
 */

import type { DescMethod, Message } from '@bufbuild/protobuf';
import type { Path } from '@bufbuild/protobuf/reflect';
import type { Interceptor } from '@connectrpc/connect';
import type { Validator, Violation } from '@bufbuild/protovalidate';
import type { AppError } from '../../base/errors.ts';
import { invalidField } from '../domain/errors.ts';

let loading: Promise<Validator> | undefined;

/**
 * Refuses requests that break a rule. `isBuilt` tells which methods there are: the others answer
 * unimplemented, whatever they are sent. Errors: invalid_argument naming the field.
 */
export function validateInterceptor(isBuilt: (method: DescMethod) => boolean): Interceptor {
  return (next) => async (request) => {
    const { method } = request;
    if (!isBuilt(method)) return next(request);
    if (!request.stream) {
      await refuseBroken(method, request.message);
      return next(request);
    }
    // What streams both ways checks its messages itself: they are a protocol of their own.
    if (method.methodKind !== 'server_streaming') return next(request);
    return next({ ...request, message: checked(method, request.message) });
  };
}

/** The messages, each held to the rules before it is handed over. */
async function* checked<T extends Message>(
  method: DescMethod,
  messages: AsyncIterable<T>,
): AsyncGenerator<T> {
  for await (const message of messages) {
    await refuseBroken(method, message);
    yield message;
  }
}

async function refuseBroken(method: DescMethod, message: Message): Promise<void> {
  loading ??= load();
  const validator = await loading;
  const result = validator.validate(method.input, message);
  if (result.kind === 'valid') return;
  // The rules are ours: one that cannot be evaluated is our mistake, and is logged as such.
  if (result.kind === 'error') throw result.error;
  const [first] = result.violations;
  if (first !== undefined) throw toRefusal(first);
}

async function load(): Promise<Validator> {
  const { createValidator } = await import('@bufbuild/protovalidate');
  const patterns = new Map<string, RegExp>();
  return createValidator({
    failFast: true,
    // Every pattern stands in our own .proto files and is a plain class or alternation.
    regexMatch: (pattern, against) => {
      const known = patterns.get(pattern) ?? new RegExp(pattern, 'u');
      patterns.set(pattern, known);
      return known.test(against);
    },
  });
}

function toRefusal(violation: Violation): AppError {
  return invalidField(jsonPath(violation.field) || 'request', problemOf(violation));
}

/** The path as it is spelt in JSON; keys of maps come from outside and are not repeated. */
function jsonPath(path: Path): string {
  let text = '';
  for (const part of path) {
    if (part.kind === 'list_sub') text += `[${part.index}]`;
    else if (part.kind === 'map_sub') text += '[a key]';
    else if (part.kind === 'field') text += `${text === '' ? '' : '.'}${part.jsonName}`;
  }
  return text;
}

const patternProblems: Readonly<Record<string, string>> = {
  '^[!-~]*$': 'may hold visible ASCII characters only, without blanks',
  '^[^\\x00-\\x1f\\x7f]*$': 'may not hold control characters',
  '^[A-Z]{2}$': 'must be an ISO 3166-1 alpha-2 code such as DE',
  '^([0-9]{4}-(0[1-9]|1[0-2]))?$': 'must be a month such as 2026-01',
};

/** What is wrong and what would be right; never the value. */
function problemOf({ ruleId, message, field }: Violation): string {
  if (ruleId === 'required') return 'is required';
  if (ruleId === 'enum.defined_only') return `must be one of ${namesAt(field)}`;
  if (ruleId === 'string.pattern') {
    const pattern = /`(.*)`/.exec(message)?.[1] ?? '';
    return patternProblems[pattern] ?? `must match ${pattern}`;
  }
  const list = /^must be in list \[(.*)\]$/.exec(message)?.[1];
  if (list !== undefined) return `must be one of ${list.replace(/^, /, '')}`;
  return message
    .replace('greater than or equal to', 'at least')
    .replace('less than or equal to', 'at most');
}

function namesAt(path: Path): string {
  const field = path.findLast((part) => part.kind === 'field');
  const values = field?.kind === 'field' ? (field.enum?.values ?? []) : [];
  return values
    .filter(({ number }) => number !== 0)
    .map(({ name }) => name)
    .join(', ');
}
