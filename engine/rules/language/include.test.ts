/** Covers Include with its bounds, and the guesses at unknown names. */

import { describe, expect, it } from 'vitest';
import { seclangLimits } from '../../../base/rule-limits.ts';
import { formatDiagnostic } from './diagnostic.ts';
import { loadSourceSet, loadText, type ReadFiles } from './include.ts';
import { nearestName } from './nearest-name.ts';

function reader(files: Readonly<Record<string, string>>): ReadFiles {
  return (pattern) => {
    const expression = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
    return Object.entries(files)
      .filter(([path]) => expression.test(path))
      .map(([path, text]) => ({ path, text }));
  };
}

function load(text: string, files: Readonly<Record<string, string>>) {
  const set = loadSourceSet([{ path: 'main', text }], reader(files));
  return {
    order: set.directives.map((directive) => directive.span.file),
    problems: set.diagnostics.map(formatDiagnostic),
    files: set.files,
  };
}

describe('Include', () => {
  it('puts the files in its place, sorted by path', () => {
    const { order, problems, files } = load('SecMarker 1\nInclude r/*.conf\nSecMarker 2', {
      'r/b.conf': 'SecMarker b',
      'r/a.conf': 'Include x\nSecMarker a',
      x: 'SecMarker x',
    });
    expect(order).toEqual(['main', 'x', 'r/a.conf', 'r/b.conf', 'main']);
    expect(problems).toEqual([]);
    expect(files).toEqual(['main', 'r/a.conf', 'x', 'r/b.conf']);
  });

  it('reports what is missing unless it is optional', () => {
    const { problems } = load('Include "no.conf"\nIncludeOptional no.conf', {});
    expect(problems).toEqual(['main:1:10: error: no file matches "no.conf" [include-missing]']);
  });

  it('reports a circle once and reads on', () => {
    const { order, problems } = load('Include a', { a: 'Include b\nSecMarker a', b: 'Include a' });
    expect(order).toEqual(['a']);
    expect(problems).toEqual(['b:1:9: error: "a" includes itself [include-cycle]']);
  });

  it('reports files that include each other too deep', () => {
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`f${index}`, `Include f${index + 1}`]),
    );
    const { problems, files: read } = load('Include f0', files);
    expect(read).toHaveLength(seclangLimits.includeDepthMax);
    expect(problems).toEqual([
      'f14:1:9: error: files include each other deeper than 16 [include-depth]',
    ]);
  });

  it('bounds how often files are read in all', () => {
    const files: Record<string, string> = { f12: 'SecMarker x' };
    for (let index = 0; index < 12; index += 1) {
      files[`f${index}`] = `Include f${index + 1}\n`.repeat(4);
    }
    const { problems, files: read } = load('Include f0', files);
    expect(read).toHaveLength(seclangLimits.filesMax);
    expect(problems.at(-1)).toMatch(/more than 4096 files/);
  });

  it('reads a text that stands alone', () => {
    expect(loadText('SecMarker a\nSecMarker b', 'inline').directives).toHaveLength(2);
  });
});

describe('nearestName', () => {
  const names = ['SecRule', 'SecRuleEngine', 'SecAction', 'contains', 'rx'];
  it.each([
    ['SecRul', 'SecRule'],
    ['secactoin', 'SecAction'],
    ['containz', 'contains'],
    ['rxx', 'rx'],
    ['somethingelse', null],
  ])('%s', (name, expected) => {
    expect(nearestName(name, names)).toBe(expected);
  });
});
