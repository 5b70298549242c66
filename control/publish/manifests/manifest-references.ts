/**
 * How documents name each other: by name, else by id. Reading resolves names to ids, exporting
 * turns ids back into names.
 */

import { invalid } from './manifest-fields.ts';

/** What documents may name. */
export type ReferenceKind =
  | 'upstream'
  | 'policy'
  | 'certificate'
  | 'ruleset'
  | 'ip list'
  | 'site'
  | 'country rule'
  | 'role'
  | 'user'
  | 'DNS provider'
  | 'agent group'
  | 'alert channel'
  | 'alert rule';

/** What to do about a resource that manifests name and never hold. */
const remedies: Partial<Record<ReferenceKind, string>> = {
  certificate: '; upload it under this name first: waf cert upload --name NAME',
  ruleset: '; import it first: waf crs import',
};

/** Resources by what documents call them, and what each is called. */
export class References {
  private readonly ids = new Map<string, string>();
  private readonly names = new Map<string, string>();

  /** Makes a resource known; the first that has a name keeps it. */
  add(kind: ReferenceKind, id: string, ...names: readonly string[]): void {
    this.ids.set(`${kind}\n#${id}`, id);
    for (const name of names) {
      if (!this.ids.has(`${kind}\n${name}`)) this.ids.set(`${kind}\n${name}`, id);
    }
    const first = names.find((name) => this.ids.get(`${kind}\n${name}`) === id);
    if (!this.names.has(`${kind}\n${id}`)) this.names.set(`${kind}\n${id}`, first ?? id);
  }

  /** Id of what is called `name` or has this id. Errors: manifest_invalid. */
  idOf(kind: ReferenceKind, name: string, where: string, field: string): string {
    const id = this.find(kind, name);
    if (id === undefined) throw invalid(where, `${field}: names no ${kind}${remedies[kind] ?? ''}`);
    return id;
  }

  /** The same; undefined when there is none. */
  find(kind: ReferenceKind, name: string): string | undefined {
    return this.ids.get(`${kind}\n${name}`) ?? this.ids.get(`${kind}\n#${name}`);
  }

  /** What a resource is called; its id when nobody knows it. */
  nameOf(kind: ReferenceKind, id: string): string {
    return this.names.get(`${kind}\n${id}`) ?? id;
  }
}
