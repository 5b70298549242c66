/**
 * Which signs are content in the values of a request to one site: what its applications send, and
 * what was learned. Made with a configuration; asked for each request that is inspected.
 */

import type { ContentRule, RequestContent } from '../../contract/detection-content.ts';
import type { SiteConfig } from '../../contract/site.ts';
import { fieldsOf, readChosen, type ApplicationField } from '../applications/application.ts';
import { applicationProfiles } from '../applications/profiles.ts';
import { plainPath, takesPath } from './content-name.ts';

interface Entry {
  readonly method: string;
  readonly path: readonly string[];
  readonly endsAtMs: number;
  readonly content: readonly RequestContent[];
}

/** One site; see the header. */
export class SiteContent {
  private readonly entries: readonly Entry[];

  constructor(learned: readonly ContentRule[], fields: readonly ApplicationField[]) {
    this.entries = [
      ...learned.map(({ method, path, name, family, endsAtMs }) => ({
        ...{ method, path: path.split('/'), endsAtMs },
        content: [{ name, family, strong: false }],
      })),
      ...fields.map(({ method, path, names, families, visitors = false }) => ({
        ...{ method, path: path.split('/'), endsAtMs: 0 },
        content: names.flatMap((name) =>
          families.map((family) => ({ name, family, strong: !visitors })),
        ),
      })),
    ];
  }

  /** What is content in a request. Cost: one comparison of the method for each rule. */
  of(method: string, target: string, nowMs: number): readonly RequestContent[] {
    let segments: readonly string[] | null = null;
    const found: RequestContent[] = [];
    for (const entry of this.entries) {
      if (entry.method !== '*' && entry.method !== method) continue;
      if (entry.endsAtMs !== 0 && entry.endsAtMs <= nowMs) continue;
      segments ??= plainPath(target)?.split('/') ?? [];
      if (takesPath(entry.path, segments)) found.push(...entry.content);
    }
    return found;
  }
}

/** The content of a site; null for none. */
export function contentOf({
  detectionContent,
  applications = '',
}: Pick<SiteConfig, 'detectionContent' | 'applications'>): SiteContent | null {
  const learned = detectionContent?.rules ?? [];
  const chosen = readChosen(applications) ?? [];
  if (learned.length === 0 && chosen.length === 0) return null;
  const fields = chosen.length === 0 ? [] : fieldsOf(chosen, applicationProfiles());
  return new SiteContent(learned, fields);
}
