/**
 * What a site checks of the requests to its API: scopes, operations, and how each value of a
 * request is to be read. Plain data, one object a site, as control compiles it from an API document
 * and the bundle carries it as JSON. `engine/base/check-code.ts` turns `code` into functions.
 */

import type { BodyFamily } from '../../base/body-family.ts';
import type { ApiSegment } from './api-path.ts';
import type { ApiBodyControls } from './body-control.ts';

/** Version of what these objects mean; an engine refuses others. */
export const apiChecksFormat = 1;

/** Every check of one site. */
export interface ApiChecks {
  readonly format: typeof apiChecksFormat;
  readonly siteId: string;
  /** The approved change that put it here, and the controls that it made. */
  readonly intentId: string;
  /** Decimal. */
  readonly controlRevision: string;
  /** SHA-256 of the controls, hex. */
  readonly snapshotSha256: string;
  readonly contractId: string;
  /** '' where nothing is validated: operations are counted only. */
  readonly bindingId: string;
  readonly scopes: readonly ApiScope[];
  readonly operations: readonly ApiOperation[];
  /** What single operations take as a body, whatever a document says. */
  readonly bodyControls: ApiBodyControls;
  /**
   * Body of a function with the parameter `runtime`; returns the list that `check` indexes. '' for
   * an empty list. Made by control alone and covered by the bundle's signature.
   */
  readonly code: string;
}

/** Part of a site that a document describes. The longest base path of a host wins. */
export interface ApiScope {
  /** Lower-case host name without port, never a wildcard. */
  readonly host: string;
  /** '' for the root; else begins with `/` and does not end with it. Whole segments, decoded. */
  readonly basePath: string;
  /** What requests get that no operation of the site takes. */
  readonly undeclared: 'allow' | 'observe' | 'block';
}

/** What an operation does with a request that breaks a check. */
export type ApiMode = 'off' | 'observe' | 'enforce';

/** One method of one path on one host. */
export interface ApiOperation {
  /** Stable name, unique within the site. */
  readonly key: string;
  /** Catalog entry. */
  readonly assetId: string;
  /** Upper case. */
  readonly method: string;
  /** Lower-case host name. */
  readonly host: string;
  /** With the scope's base path, decoded; empty for `/`. A literal wins over a template. */
  readonly path: readonly ApiSegment[];
  readonly mode: ApiMode;
  readonly parameters: readonly ApiParameter[];
  /** What a query parameter is that no parameter declares. */
  readonly unknownQuery: 'allow' | 'violation';
  /** Absent where the document says nothing of a body: bodies are not checked then. */
  readonly body?: ApiBody;
  /** JSON pointer of the operation in the document. */
  readonly pointer: string;
}

/** How a parameter's values are laid out. */
export type ApiParameterStyle =
  'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject';

/** One parameter. */
export interface ApiParameter {
  /** As the document spells it; header names in lower case. */
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  /** Swagger's `csv` is simple (form in a query), `ssv` spaceDelimited, `pipes` pipeDelimited. */
  readonly style: ApiParameterStyle;
  readonly explode: boolean;
  readonly allowReserved: boolean;
  readonly required: boolean;
  /** An empty value of a query parameter is valid whatever the check says. */
  readonly allowEmptyValue: boolean;
  /** Present where the text is a document of this type (`content`), for example JSON. */
  readonly mediaType?: string;
  readonly shape: ApiTextShape;
  /** Index of the check; absent where it could not be compiled: only its presence is checked. */
  readonly check?: number;
  /** JSON pointer of the parameter in the document. */
  readonly pointer: string;
}

/** What a piece of text can be read as. */
export type ApiScalar = 'string' | 'integer' | 'number' | 'boolean' | 'null';

/**
 * What a text is read as before its check. Several scalars: the text is valid when one of its
 * readings is. `json`: the text is a JSON document. `unread`: it cannot be read in one way; it has
 * no check.
 */
export type ApiTextShape =
  | { readonly kind: 'scalar'; readonly types: readonly ApiScalar[] }
  | { readonly kind: 'array'; readonly items: ApiScalar }
  | {
      readonly kind: 'object';
      readonly properties: Readonly<Record<string, ApiScalar>>;
      readonly additional: ApiScalar;
    }
  | { readonly kind: 'json' }
  | { readonly kind: 'unread' };

/** What a request's body may be. */
export interface ApiBody {
  readonly required: boolean;
  /** The most specific range wins: exact, then `type/*`, then the full wildcard. */
  readonly media: readonly ApiMedia[];
  /** JSON pointer of the body in the document. */
  readonly pointer: string;
}

/** What bytes of a media type are read as. */
export type ApiMediaKind = BodyFamily;

/** One media type of a body. */
export interface ApiMedia {
  /** Lower case, without parameters, for example `application/json` or `image/*`. */
  readonly range: string;
  readonly kind: ApiMediaKind;
  /** Index of the check; absent where there is none: only the media type is checked. */
  readonly check?: number;
  /** Of `form` and `multipart`: how each property is read. */
  readonly fields?: Readonly<Record<string, ApiField>>;
  /** Of `form` and `multipart`: how a field is read that `fields` does not name. */
  readonly otherFields?: ApiField;
  /** Of `text` and `binary`: bounds of the size, in characters and in bytes. */
  readonly minSize?: number;
  readonly maxSize?: number;
  /** JSON pointer of the media type in the document. */
  readonly pointer: string;
}

/** One property of a form or a multipart body. */
export interface ApiField {
  /** `form`, `spaceDelimited`, `pipeDelimited` or `deepObject`. */
  readonly style: ApiParameterStyle;
  readonly explode: boolean;
  readonly allowReserved: boolean;
  readonly shape: ApiTextShape;
  /** Of `multipart`: media types that the part may have, lower case; empty for any. */
  readonly contentTypes: readonly string[];
  /** Of `multipart`: several parts of this name make an array. */
  readonly repeats: boolean;
  /** A file: its content stands as '' where the check looks at it. */
  readonly file: boolean;
}
