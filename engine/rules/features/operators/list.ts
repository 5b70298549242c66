/** The explicit list of operators; order is the order of the documentation. */

import type { OperatorDefinition } from '../../transaction/types.ts';
import { beginsWith } from './begins-with.ts';
import { contains } from './contains.ts';
import { containsWord } from './contains-word.ts';
import { detected } from './detected.ts';
import { detectSQLi } from './detect-sqli.ts';
import { detectXSS } from './detect-xss.ts';
import { endsWith } from './ends-with.ts';
import { eq } from './eq.ts';
import { ge } from './ge.ts';
import { geoLookup } from './geo-lookup.ts';
import { gt } from './gt.ts';
import { ipMatch, ipMatchFromFile } from './ip-match.ts';
import { le } from './le.ts';
import { lt } from './lt.ts';
import { noMatch } from './no-match.ts';
import { pm, pmFromFile } from './pm.ts';
import { rbl } from './rbl.ts';
import { rx, rxGlobal } from './rx.ts';
import { streq } from './streq.ts';
import { strmatch } from './strmatch.ts';
import { unconditionalMatch } from './unconditional-match.ts';
import { validateByteRange } from './validate-byte-range.ts';
import { validateUrlEncoding } from './validate-url-encoding.ts';
import { validateUtf8Encoding } from './validate-utf8-encoding.ts';
import { verifyCC } from './verify-cc.ts';
import { verifyCPF } from './verify-cpf.ts';
import { verifySSN } from './verify-ssn.ts';
import { verifySVNR } from './verify-svnr.ts';
import { within } from './within.ts';
import { refusedOperators } from './refused.ts';

/** Every operator that SecLang texts may name. */
export const operators: readonly OperatorDefinition[] = [
  beginsWith,
  contains,
  containsWord,
  detected,
  detectSQLi,
  detectXSS,
  endsWith,
  eq,
  ge,
  geoLookup,
  gt,
  ipMatch,
  ipMatchFromFile,
  le,
  lt,
  noMatch,
  pm,
  pmFromFile,
  rbl,
  rx,
  rxGlobal,
  streq,
  strmatch,
  unconditionalMatch,
  validateByteRange,
  validateUrlEncoding,
  validateUtf8Encoding,
  verifyCC,
  verifyCPF,
  verifySSN,
  verifySVNR,
  within,
  ...refusedOperators,
];
