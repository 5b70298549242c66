/** Tests that virtual patches refuse exploits of faults, and no texts or addresses near them. */

import { afterAll, describe, expect, test } from 'vitest';
import { buildPatches } from './patches.ts';
import { readRequests, type LabelledRequest } from './requests.ts';
import { requestWith } from './value-request.ts';

const built = buildPatches('.', '.cache/bench-databases');

afterAll(() => built.retire());

describe('benign values', () => {
  /** Questions that hold an exploit of Log4j as it is sent. */
  const quoted = ['java-5', 'md-7'].flatMap((id) => [`${id}/query`, `${id}/form`]);

  test.each([
    ['ordinary', 1_190, []],
    ['writing', 1_160, quoted],
    ['texts', 600, []],
    ['developers', 500, []],
  ])('%s and those kept: of more than %i patches refuse few', (name, count, expected) => {
    const files = [name, `${name}-kept`].map((one) => `test/detect/${one}.jsonl`);
    const requests = readRequests(files).filter(({ attack }) => !attack);
    expect(requests.length).toBeGreaterThan(count);
    const refused = requests.filter((one) => built.stopping(one).length > 0);
    expect(refused.map(({ id }) => id)).toEqual(expected);
  });
});

describe('the address of an exploit that somebody reports', () => {
  /** Their exploits are texts in any value. */
  const anywhere = ['CVE-2021-44228', 'CVE-2022-22954', 'CVE-2024-4879'];
  const addresses = built.patches.flatMap(({ requests }) =>
    requests.filter(({ expect: expected }) => expected === 'match').map(({ url }) => url),
  );

  test.each(['query', 'form'] as const)('in a %s: patches of paths let it pass', (place) => {
    const stopping = addresses.flatMap((url) => {
      const wire = requestWith(`https://shop.example${url}`, place, { target: '/log', name: 'dl' });
      return built.stopping(madeRequest(wire));
    });
    expect([...new Set(stopping)].toSorted()).toEqual(anywhere);
  });
});

function madeRequest(wire: Buffer): LabelledRequest {
  return { id: 'made', attack: false, kind: '', source: '', group: '', wire };
}
