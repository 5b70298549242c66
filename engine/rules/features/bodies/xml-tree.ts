/**
 * The tree of an XML body and building it from text, within limits. Refuses document types and
 * every entity beyond the five of the standard. Knows nothing of rules.
 */

import { SaxesParser, type SaxesTagPlain } from 'saxes';

import { valueLimits } from '../../../base/rule-limits.ts';
import type { InspectionLimitName } from '../../transaction/inspection-limits.ts';
import type { XmlAttribute, XmlElement } from '../../transaction/xml-element.ts';

/** What was read; `reason` says what was wrong first, null when nothing was. */
export interface XmlDocument {
  readonly root: XmlElement | null;
  readonly reason: string | null;
  /** The limit at which reading stopped. */
  readonly limit: InspectionLimitName | null;
}

/** Errors read past; the parser makes an object for each, so it has to end. */
const errorsMax = 16;

/** Shared by all elements without attributes; never written to. */
const none: XmlAttribute[] = [];

class StopReading extends Error {}

/**
 * Builds the tree of `text`. Reads on after errors and keeps what it has when a limit is reached.
 * `truncated`: the text was cut, so that its end is no error; an open attribute is closed there.
 * Errors: never throws.
 */
export function readXml(text: string, truncated: boolean): XmlDocument {
  const builder = new TreeBuilder();
  const parser = new SaxesParser({ xmlns: false, position: false });
  parser.on('error', () => builder.fault('XML: not well-formed'));
  parser.on('doctype', () => builder.fault('XML: a document type is not accepted'));
  parser.on('opentag', (tag) => builder.open(tag));
  parser.on('closetag', () => builder.close());
  parser.on('text', (part) => builder.text(part));
  parser.on('cdata', (part) => builder.text(part));
  try {
    parser.write(text);
    if (truncated) {
      builder.ignoreFaults = true;
      parser.write(text.lastIndexOf('<') > text.lastIndexOf('>') ? '\'"><' : '<');
    } else {
      parser.close();
    }
  } catch (thrown) {
    if (!(thrown instanceof StopReading)) builder.reason ??= 'XML: not readable';
  }
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

class TreeBuilder {
  root: XmlElement | null = null;
  reason: string | null = null;
  limit: InspectionLimitName | null = null;
  ignoreFaults = false;
  private current: XmlElement | null = null;
  private depth = 0;
  private elements = 0;
  private attributes = 0;
  private faults = 0;

  fault(reason: string): void {
    if (this.ignoreFaults) return;
    this.reason ??= reason;
    if (++this.faults > errorsMax) throw new StopReading();
  }

  open(tag: SaxesTagPlain): void {
    if (++this.elements > valueLimits.xmlElementsMax)
      this.stop('xml-elements', 'XML: too many elements');
    if (++this.depth > valueLimits.xmlDepthMax) this.stop('xml-depth', 'XML: nesting too deep');
    const parent = this.current;
    const { name } = tag;
    let attributes = none;
    let declarations = none;
    for (const key in tag.attributes) {
      if (++this.attributes > valueLimits.xmlAttributesMax) {
        this.stop('xml-attributes', 'XML: too many attributes');
      }
      const attribute = { name: key, value: tag.attributes[key]! };
      if (key === 'xmlns' || key.startsWith('xmlns:')) {
        declarations = withAttribute(declarations, attribute);
      } else {
        attributes = withAttribute(attributes, attribute);
      }
    }
    const element: XmlElement = { name, attributes, declarations, children: [], parent };
    if (parent !== null) parent.children.push(element);
    else this.root ??= element;
    this.current = element;
  }

  close(): void {
    this.depth--;
    this.current = this.current?.parent ?? null;
  }

  text(part: string): void {
    this.current?.children.push(part);
  }

  private stop(limit: InspectionLimitName, reason: string): never {
    this.limit = limit;
    this.reason ??= reason;
    throw new StopReading();
  }
}

function withAttribute(list: XmlAttribute[], attribute: XmlAttribute): XmlAttribute[] {
  if (list === none) return [attribute];
  list.push(attribute);
  return list;
}
