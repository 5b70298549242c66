/** The tree of an XML document as the library saxes reads it: what our reader is compared with. */

import { SaxesParser } from 'saxes';
import type { XmlAttribute, XmlElement } from '../../transaction/xml-element.ts';

/** The root of a well-formed document without a type; null for any other. */
export function readWithSaxes(text: string): XmlElement | null {
  const parser = new SaxesParser({ xmlns: false, position: false });
  let root: XmlElement | null = null;
  let current: XmlElement | null = null;
  let sound = true;
  const addText = (part: string): void => {
    if (current === null) return;
    const last = current.children.at(-1);
    // Where a text and a CDATA section meet, XPath knows one text.
    if (typeof last === 'string') current.children[current.children.length - 1] = last + part;
    else if (part !== '') current.children.push(part);
  };
  parser.on('error', () => (sound = false));
  parser.on('doctype', () => (sound = false));
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('opentag', ({ name, attributes }) => {
    const all: XmlAttribute[] = Object.entries(attributes).map(([key, value]) => {
      return { name: key, value };
    });
    const declares = (one: XmlAttribute): boolean => /^xmlns(?::|$)/.test(one.name);
    const element: XmlElement = {
      name,
      attributes: all.filter((one) => !declares(one)),
      declarations: all.filter(declares),
      children: [],
      parent: current,
    };
    current?.children.push(element);
    root ??= element;
    current = element;
  });
  parser.on('closetag', () => (current = current?.parent ?? null));
  parser.write(text).close();
  return sound ? root : null;
}
