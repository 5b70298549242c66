/** The operators that rules may name but that are refused, each with the reason. */

import type { OperatorDefinition } from '../../transaction/types.ts';
import { refusedOperator } from './operator-common.ts';

const source = 'ModSecurity Reference Manual, Operators';

/** Runs a script in ModSecurity. */
export const inspectFile = refusedOperator(
  {
    name: 'inspectFile',
    summary: 'Refused: would run a script over uploaded files.',
    example: 'SecRule FILES_TMPNAMES "@inspectFile /opt/scan.lua" "id:1"',
    source,
  },
  'refused: no script execution',
);

/** Validates XML against a schema in ModSecurity. */
export const validateSchema = refusedOperator(
  {
    name: 'validateSchema',
    summary: 'Unsupported: XML Schema validation.',
    example: 'SecRule XML "@validateSchema /etc/schema.xsd" "id:1"',
    source,
  },
  'unsupported: XML Schema validation',
);

/** Validates XML against a DTD in ModSecurity. */
export const validateDTD = refusedOperator(
  {
    name: 'validateDTD',
    summary: 'Unsupported: DTD validation; documents with a DTD are refused as a whole.',
    example: 'SecRule XML "@validateDTD /etc/schema.dtd" "id:1"',
    source,
  },
  'unsupported: DTD validation',
);

/** Compares with ssdeep hashes in ModSecurity. */
export const fuzzyHash = refusedOperator(
  {
    name: 'fuzzyHash',
    summary: 'Unsupported: comparison with ssdeep hashes.',
    example: 'SecRule REQUEST_BODY "@fuzzyHash /etc/hashes.txt 6" "id:1"',
    source,
  },
  'unsupported: fuzzy hashes',
);

/** Asked the Google Safe Browsing database in ModSecurity 2. */
export const gsbLookup = refusedOperator(
  {
    name: 'gsbLookup',
    summary: 'Unsupported: the Google Safe Browsing database is no longer given out.',
    example: 'SecRule RESPONSE_BODY "@gsbLookup ." "id:1"',
    source,
  },
  'unsupported: Google Safe Browsing lookups',
);

/** Checked link hashes that SecHashEngine made in ModSecurity 2. */
export const validateHash = refusedOperator(
  {
    name: 'validateHash',
    summary: 'Unsupported: link hashes of SecHashEngine.',
    example: 'SecRule REQUEST_URI "@validateHash product_info" "id:1"',
    source,
  },
  'unsupported: link hashes',
);

/** Replaced response content in ModSecurity 2. */
export const rsub = refusedOperator(
  {
    name: 'rsub',
    summary: 'Unsupported: changing the content of messages.',
    example: 'SecRule STREAM_OUTPUT_BODY "@rsub s/a/b/" "id:1"',
    source,
  },
  'unsupported: changing the content of messages',
);

/** All of them, for the operator list. */
export const refusedOperators: readonly OperatorDefinition[] = [
  inspectFile,
  validateSchema,
  validateDTD,
  fuzzyHash,
  gsbLookup,
  validateHash,
  rsub,
];
