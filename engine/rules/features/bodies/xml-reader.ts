/**
 * Reads an XML body of an ASCII-compatible encoding straight from the slab: the text of the
 * root element as one row, every attribute as another, and whether the document is well-formed.
 * Builds no tree and no strings; xml-tree.ts does, for selectors that need one.
 */

import { valueLimits } from '../../../../base/rule-limits.ts';
import { XmlSyntax, type XmlBound } from '../../../../base/xml-syntax.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE, type ValueTable } from '../../transaction/values.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import { failBody } from './arguments.ts';
import { addRawText } from './raw-text.ts';
import { isNamespaceDeclaration, xmlBodyBounds, xmlLimitOf } from './xml-bounds.ts';

/** Pieces of text outside of elements that are kept apart; further ones are one. */
const outsideMax = 32;

/** Reads one document at a time; reused, so that reading allocates little. Not re-entrant. */
export class XmlReader extends XmlSyntax {
  private tx!: Transaction;
  private values!: ValueTable;
  private keyStart = 0;
  /** Text outside of elements: start and end, by turns. */
  private readonly outside: number[] = [];

  constructor() {
    super(xmlBodyBounds);
  }

  /** Reads [start, end) of the slab. Errors: REQBODY_ERROR; `truncated`: the end is a cut. */
  read(tx: Transaction, start: number, end: number, truncated: boolean): void {
    const values = tx.values;
    this.tx = tx;
    this.values = values;
    this.keyStart = values.appendText('//@*');
    const textKey = values.appendText('/*');
    values.reserve(2 * (end - start));
    this.outside.length = 0;
    this.readSyntax(values.slab, [start, end], values.used, truncated);
    values.used = this.spare;
    for (let i = 0; i < this.outside.length; i += 2) {
      this.addOutside(this.outside[i]!, this.outside[i + 1]!);
    }
    if (this.stopped) this.addOutside(this.at, end);
    if (!this.seenRoot) return;
    values.add(SOURCE.xmlText, textKey, textKey + 2, this.textStart, this.textEnd);
  }

  protected fault(): void {
    failBody(this.tx, 'XML: not well-formed');
  }

  /** A limit ends reading, but for `SecInspectUnparsed`. */
  protected reach(bound: XmlBound): void {
    const [limit, reason] = xmlLimitOf[bound];
    if (!this.tx.settings.inspectsUnparsed) this.stopped = true;
    if (this.attributes > valueLimits.argumentRowsMax) this.stopped = true;
    failBody(this.tx, reason);
    reachLimit(this.tx, limit);
  }

  protected openElement(): void {}

  protected closeElements(): void {}

  protected meetInstruction(): void {}

  protected meetDoctype(): void {
    failBody(this.tx, 'XML: a document type is not accepted');
  }

  protected addAttribute(name: number, nameEnd: number, from: number, to: number): void {
    if (isNamespaceDeclaration(this.slab, name, nameEnd)) return;
    this.values.add(SOURCE.xmlAttribute, this.keyStart, this.keyStart + 4, from, to);
  }

  protected noteOutside(from: number, to: number): void {
    const { outside } = this;
    if (outside.length < 2 * outsideMax) outside.push(from, to);
    else outside[outside.length - 1] = to;
  }

  /** What stands outside of elements and says nothing in XML is inspected as text. */
  private addOutside(from: number, to: number): void {
    if (this.tx.settings.inspectsUnparsed) addRawText(this.tx, SOURCE.argPost, from, to);
  }
}
