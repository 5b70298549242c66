/**
 * Mutants of SQL injections by grammar, and SQLite as the judge of whether one acts: a query that
 * finds nothing for the value as a text finds rows, or what was not asked for. Deterministic.
 */

import { spawnSync } from 'node:child_process';
import type { Dice } from '../../worst/search.ts';

/** A value, and the query that it is put into in place of `?`. */
export interface Mutant {
  readonly value: string;
  readonly context: string;
}

const contexts = [
  { query: "select a from t where a='?'", close: "'" },
  { query: "select a from t where (a='?')", close: "')" },
  { query: "select a from t where a like '%?%' and id>0", close: "'" },
  { query: 'select a from t where a="?"', close: '"' },
  { query: 'select a from t where id=?', close: '' },
  { query: 'select a from t where (id=?)', close: ')' },
] as const;
const blanks = [' ', '  ', '\t', '\n', '\f', '/**/', '/*x*/', ' /**/ ', '--x\n'];
const truths = [
  ...['1=1', '2>1', '1<2', '1<>2', '1!=2', '1==1', '1 is 1', '1 is not 2', 'not 0', 'not 1=2'],
  ...["'a'='a'", "'a' like 'a'", "'ab' like 'a%'", "'a' glob 'a'", "'a'<'b'", '"a"="a"', '1'],
  ...['1 between 0 and 2', '1 in (1)', '1 in (1,2)', '3 not in (1)', '(1)', '(1=1)', '~1', '-1'],
  ...['+1', '0x1', '0x1=1', '1e0', '1.0=1', '.5', 'true', 'not false', 'null is null', '2-1'],
  ...['1 isnull=0', '1 notnull', 'abs(-1)', 'length(1)', "length('a')=1", 'unicode(65)', 'id'],
  ...['id=id', 'id>0', 'a=a', 'a is not null', 'a notnull', "a like '%'", "a glob '*'", 'rowid'],
  ...['exists(select 1)', '(select 1)', '(select count(*) from t)>0', 'case when 1=1 then 1 end'],
  ...['iif(1=1,1,0)', 'coalesce(null,1)', 'ifnull(null,1)', "instr('ab','b')", 'random() is not 0'],
  ...["char(65)='A'", "hex('a')='61'", "substr('ab',1,1)='a'", "'a'||'b'='ab'", '1|0', '3&1'],
] as const;
const connectives = ['or', 'or', 'or', 'Or', 'OR', '||', 'or not 0 and', 'and 0 or'] as const;
const tails = ['--', '-- ', '--x', '-- -', '/*', ';', ';--', '; --x'] as const;
const columns = ['1', 'null', "'x'", '1e0', 'a', '(1)', "'a'||'b'", 'sqlite_version()'] as const;
const sources = ['', ' from t', ' from sqlite_master', ' from(select 1)', ' limit 1'] as const;
const statements = [
  ...['create table z(a)', 'drop table t', 'delete from t', 'update t set a=1', 'vacuum'],
  ...[
    "insert into t values(9,'z')",
    'select 1',
    'alter table t add y',
    'attach database ":memory:" as y',
  ],
] as const;

function pick<T>(list: readonly T[], dice: Dice): T {
  return list[dice(list.length)]!;
}

/** One mutant. */
export function mutateSql(dice: Dice): Mutant {
  const { query, close } = pick(contexts, dice);
  const base =
    close === '' || close === ')' ? pick(['99', '-1', '0'], dice) : pick(['', 'zz'], dice);
  const end = balanced(close, dice);
  const kind = dice(10);
  let body: string;
  if (kind < 6) body = `${pick(connectives, dice)} ${pick(truths, dice)}`;
  else if (kind < 8) {
    const all = pick(['union', 'union all', 'union values', 'UNION'], dice);
    const list = all === 'union values' ? `(${pick(columns.slice(0, 3), dice)})` : '';
    body =
      list === '' ? `${all} select ${pick(columns, dice)}${pick(sources, dice)}` : `${all}${list}`;
  } else if (kind === 8) {
    return {
      value: disguise(`${base}${close};${pick(statements, dice)}${pick(tails, dice)}`, dice),
      context: query,
    };
  } else body = `${pick(connectives, dice)} ${pick(truths, dice)} and ${pick(truths, dice)}`;
  return { value: disguise(`${base}${close} ${body}${end}`, dice), context: query };
}

/** What makes the rest of the query whole: a comment, or a condition that takes its quote. */
function balanced(close: string, dice: Dice): string {
  if (dice(3) > 0) return pick(tails, dice);
  switch (close) {
    case "'":
      return pick([" and 'a'='a", " or 'a'='", " and ''='", " or 'x'<'y"], dice);
    case "')":
      return pick([" and ('a'='a", " or ('a'='b"], dice);
    case '"':
      return pick([' and "a"="a', ' or "a"="'], dice);
    case ')':
      return pick([' and (1=1', ' or (1'], dice);
    default:
      return '';
  }
}

/** Other blanks, other case. */
function disguise(value: string, dice: Dice): string {
  const tight = dice(4) === 0;
  const spaced = value.replaceAll(' ', () => (dice(3) === 0 ? pick(blanks, dice) : ' '));
  const cased = spaced.replaceAll(/[a-z]+/g, (word) => {
    return dice(5) === 0
      ? [...word].map((c) => (dice(2) === 0 ? c.toUpperCase() : c)).join('')
      : word;
  });
  return tight ? cased.replaceAll(/ ?([('"=<>|]) ?/g, '$1') : cased;
}

const setUp = "create table t(id integer primary key,a text);insert into t values(1,'p'),(2,'q');";

/** Whether SQLite runs the query with more than it asks for. Cost: one process. */
export function actsInSqlite({ value, context }: Mutant): boolean {
  const before = run('zz', context);
  const now = run(value, context);
  return now !== null && now !== before;
}

/** What the query and a look at the tables after it print; null where SQLite refuses it. */
function run(value: string, context: string): string | null {
  const query = context.replace('?', () => value);
  const script = `${setUp}\n${query}\n;\nselect count(*) from sqlite_master;select group_concat(id||a) from t;`;
  const { status, stdout, error } = spawnSync('sqlite3', ['-bail', '-safe', ':memory:'], {
    input: script,
    encoding: 'latin1',
    timeout: 5000,
  });
  if (error !== undefined) throw error;
  return status === 0 ? stdout : null;
}
