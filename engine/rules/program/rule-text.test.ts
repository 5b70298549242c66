/** Tests of rules as text: what is bound again is the same rule, and equal rules are one object. */

import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { fullCatalog } from '../features/full-catalog.ts';
import type { Rule, RuleTemplate } from '../transaction/types.ts';
import { loadText } from '../language/include.ts';
import { buildProgram } from './build-program.ts';
import { createLinkContext } from './link-context.ts';
import { placeRule } from './place-rule.ts';
import { bindChain, writeChain } from './rule-text.ts';
import { SharedRules } from './shared-rules.ts';

const words = 'one\ntwo\n';
const read = (text: string) => (): string => text;
const context = createLinkContext(fullCatalog, read(words), () => undefined);

function linked(text: string, data = words): Rule[] {
  const { program, diagnostics } = buildProgram(loadText(text, 'a.conf'), fullCatalog, read(data));
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return program!.rules.filter(({ id }) => id !== 0);
}

function chainOf(links: readonly RuleTemplate[]): Rule {
  let next: Rule | null = null;
  for (const [at, link] of [...links.entries()].reverse()) next = placeRule(link, at, next);
  return next!;
}

/** Examples of the catalog, one a rule. */
function examples(): string[] {
  const { operators, actions, variables } = fullCatalog;
  return [...operators, ...actions, ...variables]
    .map(({ example }) => example)
    .filter((example) => example.startsWith('SecRule ') || example.startsWith('SecAction '))
    .filter((example) => {
      const { program } = buildProgram(loadText(example, 'a.conf'), fullCatalog, read(words));
      return program !== null && program.rules.length > 0;
    });
}

test('rules with every feature of the catalog are the same when they are bound again', () => {
  const texts = examples();
  expect(texts.length).toBeGreaterThan(60);
  for (const text of texts) {
    for (const rule of linked(text)) {
      const again = chainOf(bindChain(writeChain(rule, 1000), context));
      expect(writeChain(again, 1000), text).toBe(writeChain(rule, 1000));
      const parts = (one: Rule): string => inspect({ ...one, index: 0 }, { depth: 8 });
      expect(parts(again), text).toBe(parts({ ...rule, index: 0 }));
    }
  }
});

const chain =
  'SecRule ARGS:a|!ARGS:/^b/|XML:/* "!@rx ^x[0-9]%{tx.y}" "id:7,phase:2,deny,status:418,' +
  "t:none,t:lowercase,multiMatch,capture,chain,msg:'M %{MATCHED_VAR}',tag:'t',severity:2," +
  "xmlns:p='http://a/',setvar:tx.z=+%{tx.y}\"\n" +
  'SecRule &TX:z "@eq 1" "skipAfter:END"\nSecMarker END\n';

test('a chain keeps its links, selectors, macros and place', () => {
  const [rule] = linked(chain);
  const again = chainOf(bindChain(writeChain(rule!, 1000), context));
  expect(again.next?.operator?.argument).toBe('1');
  expect(again.targets.map(({ selector }) => selector?.kind)).toEqual(['key', 'xpath']);
  expect(again.exclusions[0]?.selector).toMatchObject({ kind: 'regex', text: '^b' });
  expect(again.targets[1]?.variable).toBe(rule!.targets[1]?.variable);
  expect(again.message?.parts).toEqual(rule!.message?.parts);
  expect(again.location).toEqual({ file: 'a.conf', line: 1 });
  expect([...again.namespaces]).toEqual([['p', 'http://a/']]);
});

test('a name outside of Latin-1 is one byte a character in the text', () => {
  const [rule] = linked('SecAction "id:1,pass"');
  const named = { ...rule!, location: { file: 'żółw.conf', line: 1 } };
  const text = writeChain(named, 1000);
  expect(/^[\0-\xff]*$/.test(text)).toBe(true);
  expect(bindChain(text, context)[0]?.location.file).toBe('żółw.conf');
});

test('rules whose data files differ have different texts, and foreign data is refused', () => {
  const rule = 'SecRule ARGS "@pmFromFile words.data" "id:1,deny"';
  const [one] = linked(rule);
  const [other] = linked(rule, 'three\n');
  expect(writeChain(one!, 1000)).not.toBe(writeChain(other!, 1000));
  expect(() => bindChain(writeChain(other!, 1000), context)).toThrow('a data file has changed');
});

test('equal chains are one object until their last use ends', () => {
  const rules = new SharedRules();
  const [first, second] = linked('SecRule ARGS "@rx a+b" "id:1"\nSecRule ARGS "@rx c+d" "id:2"');
  const one = rules.take(writeChain(first!, 1000), context);
  expect(rules.take(writeChain(first!, 1000), context)).toBe(one);
  expect(rules.take(writeChain(second!, 1000), context)).not.toBe(one);
  // The limit of searches is part of what a rule is.
  expect(rules.take(writeChain(first!, 2000), context)).not.toBe(one);
  expect(rules.size).toBe(3);
  rules.giveBack(one);
  expect(rules.take(writeChain(first!, 1000), context)).toBe(one);
  rules.giveBack(one);
  rules.giveBack(one);
  expect(rules.size).toBe(2);
  expect(rules.take(writeChain(first!, 1000), context)).not.toBe(one);
});
