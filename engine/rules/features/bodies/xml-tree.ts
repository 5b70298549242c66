/**
 * The tree of an XML body, for selectors, within limits. Refuses document types and every entity
 * beyond the five of the standard. Knows nothing of rules.
 */

import { decodeUtf8, toByteString } from '../../../../base/byte-string.ts';
import { XmlSyntax, type XmlBound } from '../../../../base/xml-syntax.ts';
import type { InspectionLimitName } from '../../transaction/inspection-limits.ts';
import type { XmlAttribute, XmlElement } from '../../transaction/xml-element.ts';
import { isNamespaceDeclaration, xmlBodyBounds, xmlLimitOf } from './xml-bounds.ts';

/** What was read; `reason` says what was wrong first, null when nothing was. */
export interface XmlDocument {
  readonly root: XmlElement | null;
  readonly reason: string | null;
  /** The limit at which reading stopped. */
  readonly limit: InspectionLimitName | null;
}

/** Shared by all elements without attributes; never written to. */
const none: XmlAttribute[] = [];

/**
 * Builds the tree of a document in UTF-8. Reads on after errors and keeps what it has when a limit
 * is reached. `truncated`: the document was cut, so that its end is no error; an open attribute is
 * closed there. Errors: never throws.
 */
export function readXml(bytes: Uint8Array, truncated: boolean): XmlDocument {
  const builder = new TreeBuilder();
  builder.read(bytes, truncated);
  return { root: builder.root, reason: builder.reason, limit: builder.limit };
}

/** All text below an element in document order: its string value. */
export function textOf(element: XmlElement): string {
  const parts: string[] = [];
  const pending: (XmlElement | string)[] = [element];
  while (pending.length > 0) {
    const node = pending.pop()!;
    if (typeof node === 'string') parts.push(node);
    else for (let i = node.children.length - 1; i >= 0; i--) pending.push(node.children[i]!);
  }
  return parts.join('');
}

class TreeBuilder extends XmlSyntax {
  root: XmlElement | null = null;
  reason: string | null = null;
  limit: InspectionLimitName | null = null;
  /** The innermost open element, and how many are open. */
  private current: TreeElement | null = null;
  private openCount = 0;
  /** Text up to here belongs to an element already. */
  private taken = 0;

  constructor() {
    super(xmlBodyBounds);
  }

  read(bytes: Uint8Array, truncated: boolean): void {
    // The document, its text, its decoded attribute values.
    const slab = Buffer.allocUnsafe(3 * bytes.length);
    slab.set(bytes);
    this.taken = bytes.length;
    this.readSyntax(slab, [0, bytes.length], bytes.length, truncated);
    this.takeText();
  }

  protected fault(): void {
    this.reason ??= 'XML: not well-formed';
  }

  protected reach(bound: XmlBound): void {
    const [limit, reason] = xmlLimitOf[bound];
    this.limit = limit;
    this.reason ??= reason;
    this.stopped = true;
  }

  protected meetDoctype(): void {
    this.reason ??= 'XML: a document type is not accepted';
  }

  protected meetInstruction(): void {}

  protected noteOutside(): void {}

  protected openElement(name: number, nameEnd: number): void {
    this.takeText();
    const parent = this.current;
    const element: TreeElement = {
      name: this.textOf(name, nameEnd),
      attributes: none,
      declarations: none,
      children: [],
      parent,
    };
    if (parent !== null) parent.children.push(element);
    else this.root ??= element;
    this.current = element;
    this.openCount++;
  }

  protected addAttribute(name: number, nameEnd: number, from: number, to: number): void {
    const attribute = { name: this.textOf(name, nameEnd), value: this.textOf(from, to) };
    const element = this.current!;
    if (isNamespaceDeclaration(this.slab, name, nameEnd)) {
      element.declarations = withAttribute(element.declarations, attribute);
    } else {
      element.attributes = withAttribute(element.attributes, attribute);
    }
  }

  protected closeElements(depth: number): void {
    this.takeText();
    for (; this.openCount > depth; this.openCount--) this.current = this.current?.parent ?? null;
  }

  /** Gives the innermost element what was read since the last tag. */
  private takeText(): void {
    if (this.textEnd > this.taken) {
      this.current?.children.push(this.textOf(this.taken, this.textEnd));
    }
    this.taken = this.textEnd;
  }

  private textOf(start: number, end: number): string {
    return decodeUtf8(toByteString(this.slab, start, end));
  }
}

/** An element whose attributes are still being read. */
interface TreeElement extends XmlElement {
  attributes: XmlAttribute[];
  declarations: XmlAttribute[];
  readonly parent: TreeElement | null;
}

function withAttribute(list: XmlAttribute[], attribute: XmlAttribute): XmlAttribute[] {
  if (list === none) return [attribute];
  list.push(attribute);
  return list;
}
