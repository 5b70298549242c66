/** Which family of signs a detector or a rule of CRS belongs to. Pure. */

import type { SignFamily } from '../../contract/detection-content.ts';
import type { SignFacts } from '../score.ts';

const byThousands: Readonly<Record<number, SignFamily>> = {
  920: 'protocol',
  921: 'protocol',
  930: 'path',
  931: 'address',
  932: 'shell',
  933: 'php',
  934: 'code',
  941: 'html',
  942: 'sql',
  944: 'java',
};

/** The family of an id; null for rules that look for something else. */
export function familyOfSign(id: number, facts: SignFacts): SignFamily | null {
  const [first] = facts.confirmedBy(id);
  return byThousands[first ?? Math.floor(id / 1000)] ?? null;
}
