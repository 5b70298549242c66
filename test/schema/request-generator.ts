/**
 * Makes requests out of an API document, by reading the document alone: valid ones, and ones that
 * break one thing. Written apart from the checks, whose code it never uses.
 */

import { bodiesOf, type MadeBody } from './made-bodies.ts';
import { faultsOf, follow, otherValid, validOf, type Part, type Value } from './made-values.ts';
import { inHeader, inPath, inQuery, textFaults, type Layout } from './made-texts.ts';

/** A request; what is absent is not sent. */
export interface MadeRequest {
  /** What it breaks; '' for nothing. */
  readonly fault: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

interface Parameter extends Layout {
  readonly in: string;
  readonly required: boolean;
  readonly schema: Part;
  /** A text of JSON. */
  readonly json: boolean;
}

/** A parameter as it is sent; null for one that is not. */
interface Sent {
  readonly parameter: Parameter;
  readonly value: unknown;
  /** Takes the place of what the style would write. */
  readonly text?: string;
}

/** Every request of a document: for each operation valid ones, then one for each fault. */
export function requestsOf(document: Part): MadeRequest[] {
  const made: MadeRequest[] = [];
  for (const [path, item] of Object.entries(document['paths'] as Record<string, Part>)) {
    for (const [method, raw] of operationsOf(item)) {
      made.push(...new Operation(document, path, method, raw, item).all());
    }
  }
  return made;
}

const notMethods = new Set(['parameters', 'servers', 'summary', 'description']);

function operationsOf(item: Part): [string, Part][] {
  return Object.entries(item).flatMap(([name, value]): [string, Part][] => {
    if (name === 'additionalOperations') return Object.entries(value as Record<string, Part>);
    return notMethods.has(name) ? [] : [[name, value as Part]];
  });
}

class Operation {
  readonly #document: Part;
  readonly #path: string;
  readonly #method: string;
  readonly #parameters: readonly Parameter[];
  readonly #bodies: readonly MadeBody[];
  readonly #bodyRequired: boolean;
  readonly #valid: readonly Sent[];

  constructor(document: Part, path: string, method: string, raw: Part, item: Part) {
    this.#document = document;
    this.#path = path;
    this.#method = method;
    const both = [item, raw].flatMap((one) => (one['parameters'] ?? []) as Part[]);
    const plain = both.map((one) => follow(document, one));
    this.#parameters = plain.flatMap((one) => parameterOf(document, one) ?? []);
    const bodies = bodiesOf(document, raw, plain);
    this.#bodies = bodies.made;
    this.#bodyRequired = bodies.required;
    this.#valid = this.#parameters.map((parameter) => ({
      parameter,
      value: validOf(document, parameter.schema),
    }));
  }

  all(): MadeRequest[] {
    const [first] = this.#bodies.filter(({ fault }) => fault === '');
    const body = first ?? null;
    const made = [this.#send('', this.#valid, body)];
    const needed = this.#valid.filter(({ parameter }) => parameter.required);
    made.push(this.#send('', needed, this.#bodyRequired ? body : null));
    for (const one of this.#bodies) {
      made.push(this.#send(one.fault === '' ? '' : `body: ${one.fault}`, this.#valid, one));
    }
    if (this.#bodyRequired) made.push(this.#send('body: missing', this.#valid, null));
    for (const sent of this.#valid) {
      for (const { fault, ...other } of this.#othersOf(sent)) {
        const all = this.#valid.map((one) => (one === sent ? { ...sent, ...other } : one));
        const { parameter } = sent;
        const name = fault === '' ? '' : `${parameter.in} ${parameter.name}: ${fault}`;
        made.push(this.#send(name, all, body));
      }
      if (!sent.parameter.required || sent.parameter.in === 'path') continue;
      const without = this.#valid.filter((one) => one !== sent);
      made.push(this.#send(`${sent.parameter.name}: missing`, without, body));
    }
    return made;
  }

  #othersOf({ parameter, value }: Sent): (Value & { readonly text?: string })[] {
    const document = this.#document;
    const { schema, json } = parameter;
    if (json) {
      const broken = { fault: 'no JSON', value, text: escape('{"a":') };
      return [...otherValid(document, schema), ...faultsOf(document, schema), broken];
    }
    return [
      ...textFaults(document, schema, parameter),
      ...styleFaults(parameter, value).map(({ fault, text }) => ({ fault, value, text })),
    ];
  }

  #send(fault: string, all: readonly Sent[], body: MadeBody | null): MadeRequest {
    let path = this.#path;
    const query: string[] = [];
    const headers: Record<string, string> = {};
    const cookies: string[] = [];
    for (const { parameter, value, text } of all) {
      const { name, json } = parameter;
      const plain = text ?? (json ? escape(JSON.stringify(value)) : null);
      switch (parameter.in) {
        case 'path':
          path = path.replace(`{${name}}`, plain ?? inPath(parameter, value));
          break;
        case 'query':
          if (text !== undefined && !json) query.push(text);
          else query.push(...(json ? [`${name}=${plain!}`] : inQuery(parameter, value)));
          break;
        case 'header':
          headers[name] = text ?? (json ? JSON.stringify(value) : inHeader(parameter, value));
          break;
        default:
          cookies.push(text ?? inQuery(parameter, value).join('; '));
      }
    }
    if (cookies.length > 0) headers['Cookie'] = cookies.join('; ');
    if (body !== null && body.type !== '') headers['Content-Type'] = body.type;
    const target = query.length === 0 ? path : `${path}?${query.join('&')}`;
    const method = this.#method.toUpperCase();
    return { fault, method, target, headers, body: body === null ? null : body.bytes };
  }
}

const escape = encodeURIComponent;

const swaggerStyles: Readonly<Record<string, string>> = {
  csv: 'form',
  multi: 'form',
  ssv: 'spaceDelimited',
  pipes: 'pipeDelimited',
};

/** How a parameter, or a field of a form in Swagger 2, is laid out. */
function layoutOf(value: Part, place: string): Layout {
  const name = String(value['name']);
  const format = (value['collectionFormat'] as string | undefined) ?? 'csv';
  const usual = place === 'path' || place === 'header' ? 'simple' : 'form';
  if (value['schema'] === undefined && value['content'] === undefined) {
    const listed = usual === 'form' ? swaggerStyles[format]! : usual;
    return { name, style: listed, explode: format === 'multi' };
  }
  const style = (value['style'] as string | undefined) ?? usual;
  return { name, style, explode: (value['explode'] ?? style === 'form') === true };
}

function parameterOf(document: Part, value: Part): Parameter | null {
  const place = String(value['in']);
  if (place === 'body' || place === 'formData') return null;
  const content = Object.values((value['content'] ?? {}) as Record<string, Part>)[0];
  const raw = (content?.['schema'] ?? value['schema'] ?? value) as Part;
  return {
    ...layoutOf(value, place),
    in: place,
    required: value['required'] === true || place === 'path',
    schema: follow(document, raw),
    json: content !== undefined,
  };
}

/** Texts that no style writes, or that are no text. */
function styleFaults(
  parameter: Parameter,
  value: unknown,
): { readonly fault: string; readonly text: string }[] {
  const { name, style, explode } = parameter;
  const isList = Array.isArray(value);
  const isObject = typeof value === 'object' && value !== null && !isList;
  if (parameter.in === 'path') {
    const bare = inPath({ name, style: 'simple', explode: false }, value);
    if (style === 'label' || style === 'matrix') return [{ fault: `no ${style}`, text: bare }];
    return isObject && !explode ? [{ fault: 'a name alone', text: `${bare},more` }] : [];
  }
  if (parameter.in === 'header') return [{ fault: 'not UTF-8', text: 'a\xff' }];
  if (parameter.in === 'cookie') return [{ fault: 'not UTF-8', text: `${name}=%ff` }];
  if (style === 'deepObject') {
    return [
      { fault: 'deeper', text: `${name}[a][b]=1` },
      { fault: 'the bare name', text: `${name}=1` },
    ];
  }
  if (isObject && explode) return [];
  const text = inQuery({ name, style, explode }, value).join('&');
  return [
    { fault: 'a broken escape', text: `${name}=%zz` },
    { fault: 'not UTF-8', text: `${name}=%ff` },
    ...(isList && explode ? [] : [{ fault: 'twice', text: `${text}&${text}` }]),
  ];
}
