/**
 * Makes rows of a window over a long body, somewhere after its beginning. No parser can begin
 * there: forms are split as ever, multipart types into the parts that begin there, JSON and XML
 * into what their text stands between, everything else is text. Nothing that these readings find
 * wrong is an error of the request.
 */

import type { BodyRest } from '../../../contract/message.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { grpcBody } from './grpc.ts';
import { readInnerTexts } from './inner-texts.ts';
import { addJsonPieces } from './json-pieces.ts';
import { readMixedWindow } from './mixed.ts';
import { addRawText } from './raw-text.ts';
import { appendAsUtf8, wideEncodingOf } from './text-encoding.ts';
import {
  contentType,
  firstByte,
  holdsPairs,
  isData,
  isFile,
  looksLikeForm,
  quietly,
  readForm,
} from './unparsed.ts';
import { XmlReader } from './xml-reader.ts';

/** One a thread: inspection is synchronous. */
const xml = new XmlReader();

/** What windows of XML stand in: an element that they do not close, unless they name it. */
const opened = '<_>';
const openedCdata = '<_><![CDATA[';

/** What a window is read as. */
interface Readings {
  readonly form: boolean;
  readonly json: boolean;
  readonly xml: boolean;
  readonly text: boolean;
  /** Of no known form: short runs of text are chance. */
  readonly data: boolean;
}

/** Reads a window. `processorName`: what reads the body. Cost: one pass for each reading. */
export function loadBodyRest(
  tx: Transaction,
  processorName: string,
  bytes: Uint8Array,
  rest: BodyRest,
): void {
  tx.bodyRest = true;
  tx.requestBodyPresent = true;
  tx.requestBodyBytes = bytes.length;
  let start = (tx.bodyStart = tx.values.append(bytes));
  let end = start + bytes.length;
  const { messageBytes = 0 } = rest;
  if (messageBytes > 0 && processorName === grpcBody.name) {
    readMessages(tx, start, start + messageBytes);
  }
  start += messageBytes;
  const begins = Buffer.from(rest.begins);
  const wide = wideEncodingOf(begins, 0, begins.length);
  if (wide !== null) {
    start = appendAsUtf8(tx.values, start, end, { ...wide, markBytes: 0 });
    end = tx.values.used;
  }
  if (processorName === '' && readMixedWindow(tx, start, end)) return;
  const readings = readingsOf(tx, processorName, begins, wide !== null);
  const { form, json, xml: asXml, text, data } = readings;
  if (json) addJsonPieces(tx, start, end);
  if (asXml) quietly(tx, () => readXmlWindow(tx, start, end, rest.inCdata));
  if (form) quietly(tx, () => readForm(tx, start, end));
  if (!text) return;
  const isText = addRawText(tx, SOURCE.argPost, start, end, data);
  if (isText && !form && holdsPairs(tx.values.slab, start, end)) {
    quietly(tx, () => readForm(tx, start, end));
  }
}

/** As the beginning of the body is read; see unparsed.ts. */
function readingsOf(
  tx: Transaction,
  processorName: string,
  begins: Buffer,
  wide: boolean,
): Readings {
  const first = firstByte(begins, wide ? 2 : 0, begins.length).replace('\0', '');
  const looksJson = first === '{' || first === '[' || first === '"';
  const looksXml = first === '<';
  const none = { form: false, json: false, xml: false, text: false, data: false };
  if (first === '' && processorName === '')
    return { ...none, form: true, json: true, xml: true, text: true };
  if (processorName === 'URLENCODED') {
    return { ...none, form: true, json: looksJson && first !== '"', xml: looksXml };
  }
  if (processorName === 'JSON') {
    const form = !looksJson && looksLikeForm(begins, 0, begins.length);
    return { ...none, form, json: !looksXml, xml: looksXml, text: looksXml };
  }
  if (processorName === 'XML') {
    return { ...none, xml: looksXml, json: looksJson, text: !looksXml };
  }
  const type = contentType(tx);
  const file = isFile(type, begins.latin1Slice());
  // No document and no form begins with data; the first byte of data says nothing.
  if (!wide && isData(type, begins)) return { ...none, text: !file, data: true };
  if (looksJson) return { ...none, json: true };
  if (looksXml) return { ...none, xml: true, text: !/^[^;]*[/+]xml\b/.test(type) };
  if (file) return none;
  const form = looksLikeForm(begins, 0, begins.length);
  return { ...none, form, text: !form };
}

/** The fields, under their names; the window that follows is read as text, whatever they are. */
function readMessages(tx: Transaction, start: number, end: number): void {
  const first = tx.values.rowsOf(SOURCE.argPost).length;
  quietly(tx, () => {
    grpcBody.process(tx, start, end, true);
    readInnerTexts(tx, first, true);
  });
}

function readXmlWindow(tx: Transaction, start: number, end: number, inCdata: boolean): void {
  const from = tx.values.appendText(inCdata ? openedCdata : opened);
  tx.values.append(tx.values.slab, start, end);
  xml.read(tx, from, tx.values.used, true);
}
