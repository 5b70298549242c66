/**
 * Learns the endpoints of a site from the paths of its traffic, in bounded memory: segments that
 * look like identifiers, and those of which there are many kinds, become one parameter. Holds names
 * of segments, never queries or bodies. Engines and control use it alike.
 */

import { endpointLimits } from './schema-limits.ts';

/** Requests to one endpoint. */
export interface EndpointCount {
  readonly method: string;
  /** Lower-case host name. */
  readonly host: string;
  /** With `{value}` or `{any}` for segments that vary. */
  readonly path: string;
  readonly count: number;
}

/** How a segment that looks like an identifier is shown, beside names at the same place. */
export const variableSegment = '{value}';
/** How a segment is shown where every name is one parameter. */
export const anySegment = '{any}';

interface Node {
  readonly children: Map<string, Node>;
  /** Takes every segment that has no child of its own. */
  variable: Node | null;
  /** True once the children were too many: new ones go to `variable`. */
  merged: boolean;
  /** Requests that ended here, by host and method. */
  readonly counts: Map<string, number>;
}

/** The endpoints of one site. */
export class EndpointTree {
  private root = emptyNode();
  private nodes = 1;
  private leftOut = 0;

  /** Requests that found no place. */
  get omitted(): number {
    return this.leftOut;
  }

  /** Counts requests; `path` has no query. */
  add(method: string, host: string, path: string, count: number): void {
    if (!/^[A-Z]{1,16}$/.test(method) || host.length > endpointLimits.hostCharsMax) {
      this.leftOut += count;
      return;
    }
    const segments = path === '/' ? [] : path.slice(1).split('/');
    if (!path.startsWith('/') || segments.length > endpointLimits.depthMax) {
      this.leftOut += count;
      return;
    }
    let node: Node | null = this.root;
    for (const segment of segments) {
      node = this.childOf(node, segment);
      if (node === null) {
        this.leftOut += count;
        return;
      }
    }
    const key = `${host} ${method}`;
    const known = node.counts.get(key);
    if (known === undefined && node.counts.size >= endpointLimits.methodsMax) this.leftOut += count;
    else node.counts.set(key, (known ?? 0) + count);
  }

  /** Every endpoint with `min` requests or more, by path. */
  list(min = 1): EndpointCount[] {
    const found: EndpointCount[] = [];
    walk(this.root, '', (path, node) => {
      for (const [key, count] of node.counts) {
        if (count < min) continue;
        const [host = '', method = ''] = key.split(' ');
        found.push({ method, host, path: path === '' ? '/' : path, count });
      }
    });
    return found;
  }

  /** As `list`; what was listed counts from 0 again, and keeps its place. */
  drain(min = 1): EndpointCount[] {
    const found = this.list(min);
    walk(this.root, '', (_, node) => {
      for (const [key, count] of node.counts) if (count >= min) node.counts.set(key, 0);
    });
    return found.filter(({ count }) => count > 0);
  }

  /** Requests that found no place since the last call. */
  drainOmitted(): number {
    const { leftOut } = this;
    this.leftOut = 0;
    return leftOut;
  }

  private childOf(node: Node, segment: string): Node | null {
    if (segment === anySegment && !node.merged) this.merge(node);
    const varies = looksVariable(segment);
    if (!varies) {
      const known = node.children.get(segment);
      if (known !== undefined) return known;
      if (!node.merged && node.children.size < endpointLimits.childrenMax) {
        const child = this.newNode();
        if (child !== null) node.children.set(segment, child);
        return child;
      }
      if (!node.merged) this.merge(node);
    }
    if (node.variable === null) node.variable = this.newNode();
    return node.variable;
  }

  /** Makes one parameter of all children: there are too many for names. */
  private merge(node: Node): void {
    node.merged = true;
    for (const [, child] of node.children) {
      if (node.variable === null) node.variable = child;
      else this.join(node.variable, child);
    }
    node.children.clear();
  }

  private join(into: Node, from: Node): void {
    this.nodes--;
    for (const [key, count] of from.counts)
      into.counts.set(key, (into.counts.get(key) ?? 0) + count);
    for (const [segment, child] of from.children) {
      const known = into.merged ? into.variable : into.children.get(segment);
      if (known !== undefined && known !== null) this.join(known, child);
      else if (into.merged) into.variable = child;
      else {
        into.children.set(segment, child);
        if (into.children.size > endpointLimits.childrenMax) this.merge(into);
      }
    }
    if (from.variable === null) return;
    if (into.variable === null) into.variable = from.variable;
    else this.join(into.variable, from.variable);
  }

  private newNode(): Node | null {
    if (this.nodes >= endpointLimits.nodesMax) return null;
    this.nodes++;
    return emptyNode();
  }
}

function emptyNode(): Node {
  return { children: new Map(), variable: null, merged: false, counts: new Map() };
}

function walk(node: Node, path: string, visit: (path: string, node: Node) => void): void {
  visit(path, node);
  for (const [segment, child] of node.children) walk(child, `${path}/${segment}`, visit);
  if (node.variable === null) return;
  walk(node.variable, `${path}/${node.merged ? anySegment : variableSegment}`, visit);
}

const variablePatterns: readonly RegExp[] = [
  // Numbers, dates and times.
  /^[+-]?\d[\d.,:TZ+-]*$/,
  // UUIDs and other hexadecimal names with a digit.
  /^(?=.*\d)[0-9a-f-]{8,}$/i,
  // Names with many digits, as tokens and slugs have them.
  /^(?=(?:.*\d){4}).{8,}$/,
  // What is escaped, or holds characters of addresses and lists.
  /[%@;=,:!*'"()<>\\{}|^`~+$&\s]/,
];

/** True for segments that name a thing, not a kind of things. */
export function looksVariable(segment: string): boolean {
  if (segment.length > endpointLimits.segmentCharsMax) return true;
  if (/[^\x21-\x7e]/.test(segment)) return true;
  return variablePatterns.some((pattern) => pattern.test(segment));
}
