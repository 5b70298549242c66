/**
 * Reads the engine's event file while it grows and hands each event to whoever waits for its
 * client: a port, or an address of its own. Events nobody waits for are dropped.
 */

import { closeSync, openSync, readSync } from 'node:fs';
import { commandLineLimits } from '../../../limits/command-limits.ts';
import { recordOf, textOrNull } from './case.ts';

/** A rule that matched, as far as tests ask. */
export interface SeenRule {
  readonly id: number;
  readonly message: string;
  readonly data: string;
  readonly tags: readonly string[];
  readonly severity: number;
  readonly file: string;
  readonly line: number;
  readonly ver: string;
  readonly rev: string;
  readonly operator: string;
  readonly matched: readonly { name: string; value: string }[];
}

/** One finished request, as far as tests ask. */
export interface SeenEvent {
  readonly requestId: string;
  readonly status: number;
  readonly refusal: string | null;
  /** Rules whose message is logged. */
  readonly rules: readonly SeenRule[];
  /** Status that a rule would have given, had the engine not only detected; 0 when none. */
  readonly withheldStatus: number;
  readonly failure: string | null;
}

/** The growing file. */
export interface EventTail {
  /** Resolves with the next event of a client; null when `timeoutMs` passed. */
  next(client: string, timeoutMs: number): Promise<SeenEvent | null>;
  /** Starts keeping events of the client. */
  watch(client: string): void;
  unwatch(client: string): void;
  close(): void;
}

/** Opens `path`, which must exist. */
export function openEventTail(path: string): EventTail {
  const file = openSync(path, 'r');
  const buffer = Buffer.allocUnsafe(commandLineLimits.eventReadBytes);
  const kept = new Map<string, SeenEvent[]>();
  let offset = 0;
  let partial = '';
  const readMore = (): void => {
    for (
      let count = readSync(file, buffer, 0, commandLineLimits.eventReadBytes, offset);
      count > 0;
    ) {
      offset += count;
      const lines = (partial + buffer.toString('latin1', 0, count)).split('\n');
      partial = (lines.pop() ?? '').slice(0, commandLineLimits.eventLineBytesMax);
      for (const line of lines) keep(line);
      count = readSync(file, buffer, 0, commandLineLimits.eventReadBytes, offset);
    }
  };
  const keep = (line: string): void => {
    const parsed = parseEvent(line);
    if (parsed === null) return;
    const { clientIp, clientPort, event } = parsed;
    (kept.get(clientIp) ?? kept.get(clientPort))?.push(event);
  };
  return {
    watch: (client) => void kept.set(client, []),
    unwatch: (client) => void kept.delete(client),
    next: async (client, timeoutMs) => {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        readMore();
        const event = kept.get(client)?.shift();
        if (event !== undefined) return event;
        if (performance.now() > deadline) return null;
        await new Promise((resolve) => setTimeout(resolve, commandLineLimits.eventPollMs));
      }
    },
    close: () => closeSync(file),
  };
}

interface ClientEvent {
  readonly clientIp: string;
  readonly clientPort: string;
  readonly event: SeenEvent;
}

function parseEvent(line: string): ClientEvent | null {
  let raw: Readonly<Record<string, unknown>>;
  try {
    // The file is UTF-8; it was read one char a byte so that no character is cut between reads.
    raw = recordOf(JSON.parse(Buffer.from(line, 'latin1').toString('utf8')));
  } catch {
    return null;
  }
  const transaction = recordOf(raw['transaction']);
  const verdict = recordOf(transaction['verdict']);
  const rules = Array.isArray(transaction['matchedRules']) ? transaction['matchedRules'] : [];
  return {
    clientIp: textOrNull(raw['clientIp']) ?? '',
    clientPort: String(Number(raw['clientPort'] ?? 0)),
    event: {
      requestId: textOrNull(raw['requestId']) ?? '',
      status: Number(raw['status'] ?? 0),
      refusal: textOrNull(raw['refusal']),
      failure: textOrNull(transaction['failure']),
      withheldStatus: transaction['detectionOnly'] === true ? Number(verdict['status'] ?? 0) : 0,
      rules: rules
        .map(recordOf)
        .filter((rule) => rule['log'] === true)
        .map(toRule),
    },
  };
}

function toRule(rule: Readonly<Record<string, unknown>>): SeenRule {
  const text = (name: string): string => textOrNull(rule[name]) ?? '';
  const matched = Array.isArray(rule['matched']) ? rule['matched'] : [];
  return {
    id: Number(rule['ruleId'] ?? 0),
    message: text('message'),
    data: text('data'),
    tags: Array.isArray(rule['tags']) ? rule['tags'].map(String) : [],
    severity: Number(rule['severity'] ?? -1),
    file: text('file'),
    line: Number(rule['line'] ?? 0),
    ver: text('ver'),
    rev: text('rev'),
    operator: text('operator'),
    matched: matched.map(recordOf).map((one) => ({
      name: textOrNull(one['name']) ?? '',
      value: textOrNull(one['value']) ?? '',
    })),
  };
}
