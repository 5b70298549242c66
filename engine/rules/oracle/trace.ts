/**
 * The notes that the oracle can make while it runs. They use libmodsecurity's debug wording,
 * so that its regression cases can be read against them; nothing else may depend on them.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { displayName } from '../transaction/report.ts';
import type { Rule } from '../transaction/types.ts';

/** Where the evaluation of a chain link begins, and how it ends. */
export type TraceStep = 'link begins' | 'link matched' | 'link failed';

/**
 * Receives one note; `level` as in libmodsecurity's debug log. Cost: that of `text`, which is made
 * only where somebody reads it.
 */
export type Trace = (level: number, text: () => ByteString, step?: TraceStep) => void;

/** Drops every note. */
export const noTrace: Trace = () => undefined;

/** Bytes as libmodsecurity shows them: control bytes and bytes from 0x7F on as \xHH. */
export function showBytes(text: ByteString): ByteString {
  return text.replace(
    /[^\x20-\x7e]/g,
    (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

/** Announces the evaluation of one link. */
export function traceLink(trace: Trace, rule: Rule): void {
  trace(4, () => linkText(rule), 'link begins');
}

function linkText(rule: Rule): ByteString {
  if (rule.operator === null) return `(Rule: ${rule.id}) Executing unconditional rule...`;
  const { definition, argument } = rule.operator;
  const targets = rule.targets.map(({ variable, selector, count }) => {
    const suffix =
      selector === null ? '' : `:${selector.kind === 'key' ? selector.key : selector.text}`;
    return `${count ? '&' : ''}${variable.name}${suffix}`;
  });
  return (
    `(Rule: ${rule.id}) Rule: ${rule.id}. Executing operator "${displayName(definition.name)}" ` +
    `with param "${argument}" against ${targets.join('|')}.`
  );
}
