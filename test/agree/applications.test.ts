/**
 * Profiles of applications under Light, with every ruleset: ordinary work passes, texts about
 * attacks among it; attacks in other fields, and signs that are no content there, are refused.
 */

import { describe, expect, test } from 'vitest';
import { applicationNames } from '../../engine/detect/applications/profiles.ts';
import { contentOf } from '../../engine/detect/learning/site-content.ts';
import { applicationRows, type ApplicationRow } from './application-rows.ts';
import { rulesetFolders, sendInProcess, templateEngine } from './policy-in-process.ts';

const timeoutMs = 10 * 60_000;

test('each profile has five requests of ordinary work and five attacks', () => {
  expect(applicationRows.map(({ name }) => name)).toEqual(applicationNames());
  for (const { work, attacks } of applicationRows) {
    expect(work.length).toBeGreaterThanOrEqual(5);
    expect(attacks.length).toBeGreaterThanOrEqual(5);
  }
});

describe.each(rulesetFolders)('$name', ({ folder }) => {
  test('work passes, attacks beside it are refused', { timeout: timeoutMs }, async () => {
    const engine = await templateEngine('Light', folder);
    const refused = (applications: string, { title, request }: ApplicationRow): string | null => {
      const { method = 'GET', url } = request;
      const content = contentOf({ applications })?.of(method, url, 0) ?? [];
      const { status, rules } = sendInProcess(engine, { ...request, content });
      return status === 0 ? null : `${title} ${rules.join(' ')}`;
    };
    try {
      for (const { name, work, attacks } of applicationRows) {
        const stopped = work.flatMap((row) => refused(name, row) ?? []);
        expect([name, stopped]).toEqual([name, []]);
        const passed = attacks.filter((row) => refused(name, row) === null);
        expect([name, passed.map(({ title }) => title)]).toEqual([name, []]);
      }
      // The profile is what lets the work pass.
      const all = applicationRows.flatMap(({ work }) => work);
      expect(all.filter((row) => refused('', row) !== null).length).toBeGreaterThan(30);
    } finally {
      engine.retire();
    }
  });
});
