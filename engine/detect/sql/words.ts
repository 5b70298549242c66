/**
 * The words of SQL that shapes need, as one automaton over letters: a word is known while it is
 * read, without a copy of it. Source: ISO/IEC 9075-2, manuals of MySQL 8, PostgreSQL 16, SQLite 3,
 * SQL Server 2022 and Oracle 23.
 */

import type { ByteString } from '../../../base/byte-string.ts';

/** What a token is. Words of one class are alike to shapes. */
export const TOKEN = {
  none: 0,
  /** A word that is no word of SQL: a name. */
  name: 1,
  number: 2,
  /** `'`, `"` or a backtick. */
  quote: 3,
  /** `=`, `<`, `>`, `!=` and others. */
  compare: 4,
  /** `+`, `-`, `*`, `/`, `%`, `~`, `^`, a single `&` or `|`. */
  arithmetic: 5,
  open: 6,
  close: 7,
  comma: 8,
  semicolon: 9,
  dot: 10,
  /** A double dash or `#`: the rest of the line is a comment. */
  lineComment: 11,
  /** `@x` or `@@x`. */
  variable: 12,
  bang: 13,
  other: 14,
  union: 20,
  select: 21,
  quantity: 22,
  from: 23,
  where: 24,
  /** `and`, `or`, `xor`, `&&`, `||`. */
  connect: 25,
  not: 26,
  /** `like`, `regexp`, `between`, `in`, `is` and others. */
  compareWord: 27,
  constant: 28,
  order: 29,
  by: 30,
  having: 31,
  limit: 32,
  insert: 33,
  into: 34,
  values: 35,
  update: 36,
  set: 37,
  delete: 38,
  /** `drop`, `create`, `alter`, `truncate`. */
  define: 39,
  /** `table`, `database`, `user`, `view` and others. */
  object: 40,
  execute: 41,
  declare: 42,
  waitfor: 43,
  delay: 44,
  shutdown: 45,
  caseWord: 46,
  when: 47,
  thenWord: 48,
  /** Functions that wait. */
  sleep: 49,
  /** Functions of attacks on databases only: they wait, fail with data, reach out. */
  attackFunction: 50,
  /** Tables of tables, variables of the server. */
  meta: 51,
  outfile: 52,
  procedure: 53,
  /** Functions that take values apart: `substr`, `ascii`, `char`, `concat`. */
  valueFunction: 54,
  ifWord: 55,
  exists: 56,
  group: 57,
  copy: 58,
  as: 59,
  loadFile: 60,
  /** Functions of shapes; only with a query inside they are attacks. */
  geometry: 61,
} as const;

/** Words by token. */
const wordLists: readonly (readonly [number, string])[] = [
  [TOKEN.union, 'union intersect except minus'],
  [TOKEN.select, 'select'],
  [
    TOKEN.quantity,
    'all distinct distinctrow top sql_no_cache sql_calc_found_rows high_priority straight_join',
  ],
  [TOKEN.from, 'from join'],
  [TOKEN.where, 'where'],
  [TOKEN.connect, 'and or xor'],
  [TOKEN.not, 'not'],
  [
    TOKEN.compareWord,
    'like rlike regexp between in is isnull notnull ilike glob similar sounds div mod',
  ],
  [TOKEN.constant, 'null true false unknown'],
  [TOKEN.order, 'order'],
  [TOKEN.group, 'group'],
  [TOKEN.by, 'by'],
  [TOKEN.having, 'having'],
  [TOKEN.limit, 'limit offset fetch'],
  [TOKEN.insert, 'insert replace merge'],
  [TOKEN.into, 'into'],
  [TOKEN.values, 'values value'],
  [TOKEN.update, 'update'],
  [TOKEN.set, 'set'],
  [TOKEN.delete, 'delete'],
  [TOKEN.define, 'drop create alter truncate'],
  [TOKEN.object, 'table database schema user view login function index trigger role'],
  [TOKEN.execute, 'exec execute call'],
  [TOKEN.declare, 'declare'],
  [TOKEN.waitfor, 'waitfor'],
  [TOKEN.delay, 'delay'],
  [TOKEN.shutdown, 'shutdown'],
  [TOKEN.caseWord, 'case'],
  [TOKEN.when, 'when'],
  [TOKEN.thenWord, 'then'],
  [TOKEN.ifWord, 'if iif ifnull decode nullif coalesce elt make_set'],
  [TOKEN.sleep, 'sleep'],
  [
    TOKEN.attackFunction,
    `benchmark pg_sleep pg_sleep_for extractvalue updatexml gtid_subset gtid_subtract name_const
     st_latfromgeohash st_longfromgeohash st_pointfromgeohash receive_message get_host_name
     get_host_address drithsx xmltype randomblob zeroblob xp_cmdshell xp_dirtree xp_regread
     xp_fileexist sp_executesql sp_oacreate sp_password dblink lo_import lo_export pg_read_file
     pg_ls_dir dbms_xmlgen getmappingxpath user_lock openrowset opendatasource fn_xe_file
     xml2clob
     query_to_xml database_to_xml load_extension ctxsys utl_http utl_inaddr utl_smtp utl_tcp
     utl_file httpuritype dbms_pipe dbms_lock dbms_session dbms_ldap dbms_xmlquery dbms_java
     dbms_xslprocessor dbms_scheduler dbms_utility dbms_export_extension dbms_sql dbms_advisor`,
  ],
  [
    TOKEN.meta,
    `information_schema sysobjects syscolumns sysusers sqlite_master sqlite_schema
     sqlite_temp_master
     pg_catalog pg_user pg_shadow pg_tables pg_database all_tables user_tables all_tab_columns
     user_tab_columns all_users dba_users sysdatabases msysobjects syscat sysibm domain_columns
     rdb$relations mysql sys_context session_user system_user`,
  ],
  [
    TOKEN.geometry,
    'geometrycollection multipoint polygon multipolygon linestring multilinestring json_keys',
  ],
  [TOKEN.outfile, 'outfile dumpfile'],
  [TOKEN.loadFile, 'load_file'],
  [TOKEN.procedure, 'procedure'],
  [
    TOKEN.valueFunction,
    `substr substring mid ascii ord char chr unichr nchar concat concat_ws group_concat hex unhex
     conv length len char_length bit_length lower upper left right cast convert count version
     database schema user current_user rand floor exp md5 sha1 position locate instr reverse repeat
     strcmp greatest least string_agg array_agg xmlagg listagg json_arrayagg quote_literal bin
     unicode stuff current_database db_name user_name host_name to_char rawtohex utl_raw row_count`,
  ],
  [TOKEN.exists, 'exists'],
  [TOKEN.copy, 'copy'],
  [TOKEN.as, 'as'],
];

/** All of them. */
export const sqlWords: readonly ByteString[] = wordLists.flatMap(([, list]) => list.split(/\s+/));

const tellingTokens: ReadonlySet<number> = new Set([
  ...[TOKEN.select, TOKEN.constant, TOKEN.insert, TOKEN.delete, TOKEN.define, TOKEN.execute],
  ...[TOKEN.waitfor, TOKEN.caseWord, TOKEN.exists, TOKEN.attackFunction, TOKEN.meta],
]);

/**
 * Strings without which a text of words, blanks and the signs `,.:?-+/%` proves nothing: shapes
 * need quotes, brackets, numbers, comparisons or variables, a comment, or one of these.
 */
export const tellingWords: readonly ByteString[] = [
  ...wordLists.flatMap(([kind, list]) => (tellingTokens.has(kind) ? list.split(/\s+/) : [])),
  ...['--', 'xp_', 'sp_'],
];

/** Letters, digits, `_` and `$`, case folded: 1 to 38; other bytes 0. */
const columns = new Uint8Array(256);
for (let digit = 0; digit < 10; digit++) columns[0x30 + digit] = 1 + digit;
for (let letter = 0; letter < 26; letter++) {
  columns[0x41 + letter] = 11 + letter;
  columns[0x61 + letter] = 11 + letter;
}
columns[0x5f] = 37;
columns[0x24] = 38;
const width = 39;

const automaton = buildAutomaton();

interface Automaton {
  readonly next: Uint16Array;
  readonly token: Uint8Array;
}

function buildAutomaton(): Automaton {
  const next: number[] = Array.from({ length: 2 * width }, () => 0);
  const token: number[] = [TOKEN.name, TOKEN.name];
  for (const [kind, list] of wordLists) {
    for (const word of list.split(/\s+/)) {
      let state = 1;
      for (const char of word) {
        const place = state * width + columns[char.charCodeAt(0)]!;
        if (next[place] === 0) {
          next[place] = token.length;
          token.push(TOKEN.name);
          for (let column = 0; column < width; column++) next.push(0);
        }
        state = next[place]!;
      }
      token[state] = kind;
    }
  }
  return { next: Uint16Array.from(next), token: Uint8Array.from(token) };
}

/** Whether a byte is one of a word; bytes of UTF-8 are. */
export function isWordCode(code: number): boolean {
  return code >= 0x80 || columns[code] !== 0;
}

/** The end of the word that was read last. */
export let readWordEnd = 0;

/** The token of the word that begins at `start`. Cost: a step a byte. */
export function readWord(text: ByteString, start: number): number {
  const { next, token } = automaton;
  const byByte = columns;
  let state = 1;
  let at = start;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at) & 255;
    const column = byByte[code]!;
    if (column === 0 && (code < 0x80 || isBareBlank(text, at, code))) break;
    state = next[state * width + column]!;
  }
  readWordEnd = at;
  return state === 0 ? TOKEN.name : token[state]!;
}

/** The no-break space of Latin-1, which MySQL skips; after a byte of UTF-8 it is a part of one. */
export function isBareBlank(text: ByteString, at: number, code: number): boolean {
  return code === 0xa0 && at > 0 && text.charCodeAt(at - 1) < 0x80;
}

/** The token of the word in [start, end). Cost: a step a byte. */
export function wordToken(text: ByteString, start: number, end: number): number {
  let state = 1;
  for (let at = start; at < end; at++) {
    state = automaton.next[state * width + columns[text.charCodeAt(at) & 255]!]!;
    if (state === 0) return TOKEN.name;
  }
  return automaton.token[state]!;
}
