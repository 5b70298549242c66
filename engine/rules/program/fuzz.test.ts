/** Links random rule sets: whatever they hold, linking ends, throws nothing and is consistent. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fullCatalog } from '../features/full-catalog.ts';
import { hasErrors } from '../language/diagnostic.ts';
import { loadText } from '../language/include.ts';
import { buildProgram, closeProgram } from './build-program.ts';

const pick = (values: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...values);
const names = (list: readonly { readonly name: string }[]): string[] =>
  list.map(({ name }) => name);

const junk = fc.stringMatching(/^[\x20-\x7e]{0,12}$/);
const variable = fc
  .tuple(
    pick(['', '', '!', '&']),
    pick(names(fullCatalog.variables)),
    pick(['', '', ':a', ':/^x/', ":'a b'", ':/(/', ':']),
  )
  .map((parts) => parts.join(''));
const operator = fc
  .tuple(
    pick(['', '!']),
    pick(names(fullCatalog.operators)),
    fc.oneof(junk, pick(['', '1', 'a b', '%{tx.a}', '1-255', '10.0.0.0/8', '(a'])),
  )
  .map(([mark, name, argument]) => `${mark}@${name} ${argument}`);
const action = fc
  .tuple(
    pick(names(fullCatalog.actions)),
    fc.oneof(junk, pick(['', "'1'", '2', 'tx.a=+1', 'lowercase', 'ruleEngine=On', 'END', 'tx.a='])),
  )
  .map(([name, value]) => (value === '' ? name : `${name}:${value}`));
const actions = fc
  .tuple(fc.integer({ min: 1, max: 30 }), fc.array(action, { maxLength: 5 }))
  .map(([id, list]) => [`id:${id}`, ...list].join(','));
const directive = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.array(variable, { minLength: 1, maxLength: 3 }), operator, actions)
      .map(([targets, op, list]) => `SecRule ${targets.join('|')} "${op}" "${list}"`),
  },
  actions.map((list) => `SecAction "${list}"`),
  actions.map((list) => `SecDefaultAction "phase:2,pass,${list}"`),
  pick(['SecMarker END', 'SecRuleRemoveById 1-9', 'SecRuleUpdateTargetById 3 !ARGS:/a/', '#']),
  actions.map((list) => `SecRuleUpdateActionById 2 "${list}"`),
  fc
    .tuple(pick(names(fullCatalog.directives)), junk)
    .map(([name, argument]) => `${name} ${argument}`),
  junk,
);

describe('any rule set', () => {
  it('is linked, or refused with a reason', () => {
    const property = fc.property(fc.array(directive, { maxLength: 8 }), (lines) => {
      const result = buildProgram(loadText(lines.join('\n'), 'a'), fullCatalog, () => null);
      expect(result.program === null).toBe(hasErrors(result.diagnostics));
      if (result.program === null) return;
      const { rules, phases } = result.program;
      expect(rules.map((rule) => rule.index)).toEqual(rules.map((_, index) => index));
      for (const item of phases.flat()) {
        if (item.kind === 'rule') expect(rules[item.index]).toBe(item);
      }
      closeProgram(result.program);
    });
    fc.assert(property, { numRuns: 1500 });
  });

  it('with hostile repetition is parsed quickly', () => {
    const pieces = ['A%:/x|', 'ARGS:/x|', '%{tx.', "ctl:x='", 'tag:a,'];
    for (const piece of pieces) {
      const many = piece.repeat(20_000);
      const text = `SecRule ${many} "${many}" "id:1"\nSecAction "id:2,foo,msg:'${many}'"`;
      expect(buildProgram(loadText(text, 'a'), fullCatalog, () => null).program).toBeNull();
    }
  });
});
