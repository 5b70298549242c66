/** What tests of API checks share: checks written by hand, in the form that control makes. */

import { apiChecksFormat, type ApiChecks, type ApiOperation } from '../contract/api-checks.ts';
import type { ApiParameter } from '../contract/api-checks.ts';
import type { ApiSegment } from '../contract/api-path.ts';

/** `/users/{id}` as segments; only whole segments are parameters. */
export function segmentsOf(path: string): ApiSegment[] {
  if (path === '/') return [];
  return path
    .slice(1)
    .split('/')
    .map((text) => partsOf(text));
}

function partsOf(text: string): ApiSegment {
  return text
    .split(/(\{[^}]*\})/)
    .filter((part) => part !== '')
    .map((part) => (part.startsWith('{') ? { parameter: part.slice(1, -1) } : { literal: part }));
}

/** An operation on `api.test` that checks nothing. */
export function operation(
  method: string,
  path: string,
  change: Partial<ApiOperation> = {},
): ApiOperation {
  return {
    key: `${method} ${path}`,
    assetId: 'asset',
    method,
    host: 'api.test',
    path: segmentsOf(path),
    mode: 'enforce',
    parameters: [],
    unknownQuery: 'allow',
    pointer: `/paths/${path.replaceAll('/', '~1')}/${method.toLowerCase()}`,
    ...change,
  };
}

/** A parameter that is a text. */
export function parameter(
  place: ApiParameter['in'],
  name: string,
  change: Partial<ApiParameter> = {},
): ApiParameter {
  return {
    name,
    in: place,
    style: place === 'query' || place === 'cookie' ? 'form' : 'simple',
    explode: place === 'query' || place === 'cookie',
    allowReserved: false,
    required: place === 'path',
    allowEmptyValue: false,
    shape: { kind: 'scalar', types: ['string'] },
    pointer: `/parameters/${name}`,
    ...change,
  };
}

/** Checks of one site; `code` is a list of functions. */
export function checksOf(
  operations: readonly ApiOperation[],
  code = '',
  change: Partial<ApiChecks> = {},
): ApiChecks {
  return {
    format: apiChecksFormat,
    siteId: 'site-1',
    intentId: 'intent-1',
    controlRevision: '1',
    snapshotSha256: 'aa',
    contractId: 'contract-1',
    bindingId: 'binding-1',
    scopes: [{ host: 'api.test', basePath: '', undeclared: 'allow' }],
    operations,
    bodyControls: { operations: [], readings: [], policySha256: '' },
    code: code === '' ? '' : `return [${code}];`,
    ...change,
  };
}
