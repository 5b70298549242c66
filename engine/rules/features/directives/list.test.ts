/** Holds every directive to a unique name and a full description. */

import { describe, expect, it } from 'vitest';
import { directives } from './list.ts';

describe('directives', () => {
  it('have each name once', () => {
    const names = directives.flatMap((entry) => [entry.name, ...(entry.aliases ?? [])]);
    const lower = names.map((name) => name.toLowerCase());
    expect(new Set(lower).size).toBe(lower.length);
    expect(lower.length).toBeGreaterThan(80);
  });

  it.each(directives.map((entry) => [entry.name, entry] as const))('%s explains itself', (_, e) => {
    expect(e.summary).toMatch(/\.$/);
    expect(e.source).not.toBe('');
    expect(e.example.startsWith(e.name)).toBe(true);
    if (e.status !== 'supported') expect(e.note ?? '').not.toBe('');
    if (e.arguments !== null) {
      expect(e.optionalArguments ?? 0).toBeLessThanOrEqual(e.arguments.length);
    }
  });
});
