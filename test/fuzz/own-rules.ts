/**
 * Random rules that users write around CRS: they read and write what CRS reads and writes,
 * take its rules and targets out, skip to its markers, end transactions. Runs nothing.
 */

import type { Dice } from '../agree/random-changes.ts';
import { type Vocabulary, vocabularyOf } from './crs-pieces.ts';

/** Writes rules with ids of its own, one after the other. */
export class OwnRules {
  private readonly dice: Dice;
  private readonly words: Vocabulary;
  private id: number;
  /** What one rule of the policy reads that others leave keeps much from being memoized. */
  private readonly shunned: readonly RegExp[];

  constructor(dice: Dice, words: Vocabulary, firstId: number) {
    this.dice = dice;
    this.words = words;
    this.id = firstId;
    this.shunned = leftovers.filter(() => dice.below(4) > 0);
  }

  /** One rule, perhaps with a chain, as SecLang. */
  rule(): string {
    for (let tries = 0; tries < triesMax; tries++) {
      const text = this.anyRule();
      if (!this.shunned.some((pattern) => pattern.test(text))) return text;
    }
    return `SecMarker OWN-${this.id++}`;
  }

  private anyRule(phase = this.phase()): string {
    const { dice } = this;
    const links = dice.pick([0, 0, 0, 0, 1, 1, 2]);
    const head = [`id:${this.id++}`, `phase:${phase}`, this.outcome(), this.logging()];
    head.push(...this.metadata(), ...this.linkActions(), ...this.jump());
    if (links === 0 && dice.below(5) === 0) return `SecAction "${head.join(',')}"`;
    if (links > 0) head.push('chain');
    const lines = [`SecRule ${this.question()} "${head.join(',')}"`];
    for (let left = links; left > 0; left--) {
      const actions = [...this.linkActions(), ...(left > 1 ? ['chain'] : [])];
      const list = actions.length === 0 ? '' : ` "${actions.join(',')}"`;
      lines.push(`SecRule ${this.question()}${list}`);
    }
    return lines.join('\n');
  }

  /**
   * Rules to stand before `piece`, of which one interferes, in some requests, with what the piece
   * reads of TX or with the piece itself; and rules to follow it that show what came of it.
   * Null where the piece reads no TX variable by name.
   */
  plot(piece: string): { readonly before: string[]; readonly after: string[] } | null {
    const { dice } = this;
    const names = [...piece.matchAll(/\bTX:([a-z][a-z0-9_]+)|%\{tx\.([a-z][a-z0-9_]+)\}/gi)];
    const [, id] = /\bid:'?(\d+)/.exec(piece) ?? [];
    if (names.length === 0 || id === undefined) return null;
    const [, target, macro] = dice.pick(names);
    const name = (target ?? macro ?? '').toLowerCase();
    const own = Number(/\bphase:'?(\d)/.exec(piece)?.[1] ?? 2);
    const phase = dice.below(3) > 0 ? own : 1 + dice.below(own);
    const cut = 1 + dice.below(name.length);
    const lines = [
      `SecAction "id:${this.id++},phase:1,pass,nolog,setvar:tx.own_b=${name.slice(cut)}"`,
    ];
    const does = this.interference(name, id, cut, vocabularyOf([piece]));
    const capture = dice.below(4) === 0 ? ',capture' : '';
    lines.push(
      `SecRule ${dice.pick(halves)} "id:${this.id++},phase:${phase},pass,nolog,${does}${capture}"`,
    );
    const shown = `phase:${dice.pick([own, own, 5])},pass,${dice.pick(['log', 'log', 'nolog'])}`;
    const witness = dice.pick([
      `SecRule TX:${name} "@ge 1" "id:${this.id++},${shown},setvar:tx.own=+1"`,
      `SecRule &TX:${name} "@eq 0" "id:${this.id++},${shown},msg:'%{tx.own}'"`,
      `SecAction "id:${this.id++},${shown},msg:'%{tx.${name}}'"`,
      `SecRule ARGS "@rx ." "id:${this.id++},${shown},setenv:'e=%{tx.${name}}'"`,
    ]);
    const before = does.includes('own_b') ? lines : lines.slice(1);
    return { before, after: dice.below(2) === 0 ? [witness] : [] };
  }

  private interference(name: string, id: string, cut: number, its: Vocabulary): string {
    const { dice } = this;
    const value = dice.pick(['0', '1', '5', '99', '+1', '+99', '-1', '', '%{MATCHED_VAR}']);
    const tag = dice.pick([...its.tags, ...its.tags, ...this.words.tags, 'own']);
    const made = `tx.${name.slice(0, cut)}%{tx.own_b}`;
    return dice.pick([
      `ctl:'ruleRemoveTargetById=${id};TX:${name}'`,
      `ctl:'ruleRemoveTargetByTag=${tag};TX:${name}'`,
      `ctl:'ruleRemoveByTag=${tag}'`,
      `ctl:'ruleRemoveByTag=${tag}'`,
      `ctl:'ruleRemoveByMsg=${dice.pick([...its.messages, 'own text'])}'`,
      dice.pick(switches),
      `ctl:ruleRemoveById=${id}`,
      `setvar:'tx.${name}=${value}'`,
      `setvar:'tx.${name}=${value}'`,
      `setvar:'!tx.${name}'`,
      `setvar:'${made}=${value}'`,
      `setvar:'${made}=${value}'`,
      `setvar:'!${made}'`,
      `setenv:'e=%{tx.${name}}'`,
      `setvar:'tx.own=%{tx.${name}}'`,
    ]);
  }

  /** `tx.` and a name that CRS or an own rule uses. */
  variable(): string {
    const { dice, words } = this;
    if (dice.below(3) === 0 || words.variables.length === 0) return dice.pick(ownVariables);
    return dice.pick(dice.below(2) === 0 ? this.scores() : words.variables);
  }

  /** An action that a rule of CRS or an own one may carry. */
  action(): string {
    const { dice } = this;
    const kind = dice.below(12);
    if (kind < 5) return this.setvar();
    if (kind < 8) return this.removal();
    if (kind < 9) return dice.pick(dice.below(2) === 0 ? switches : harmless);
    if (kind < 10) return `setenv:'e=%{tx.${this.variable()}}'`;
    return dice.pick(sideEffects);
  }

  /** What names a rule: an id, a range, several of them. */
  idList(): string {
    const { dice } = this;
    const id = this.someId();
    const from = id - dice.below(100);
    const form = dice.below(6);
    if (form < 3) return String(id);
    return form < 5 ? `${from}-${from + 1 + dice.below(1000)}` : `${id},${this.someId()}`;
  }

  private someId(): number {
    const { dice, words } = this;
    if (dice.below(4) > 0 && words.ids.length > 0) return dice.pick(words.ids);
    return this.id - dice.below(6) + 2;
  }

  private scores(): readonly string[] {
    const scores = this.words.variables.filter((name) => /score|level|skip|block/.test(name));
    return scores.length > 0 ? scores : ownVariables;
  }

  private phase(): number {
    return this.dice.pick([1, 1, 1, 2, 2, 2, 2, 3, 4, 5]);
  }

  private question(): string {
    const { dice } = this;
    if (dice.below(2) === 0) return dice.pick(halves);
    const asked = this.target();
    const more = dice.below(5) === 0 ? `|${this.target()}` : '';
    const out = dice.below(8) === 0 ? `|${dice.pick(exclusions)}` : '';
    const text = dice.below(5) === 0 ? this.comparison() : this.operatorFor(asked);
    return `${asked}${more}${out} "${text}"`;
  }

  private target(): string {
    const { dice } = this;
    const kind = dice.below(10);
    if (kind < 4) return dice.pick(requestTargets);
    if (kind < 7) return `${dice.pick(['TX:', 'TX:', '&TX:'])}${this.variable()}`;
    if (kind < 8) return dice.pick(txLists);
    return dice.pick(otherTargets);
  }

  private operatorFor(target: string): string {
    const { dice } = this;
    return target.includes('TX') || target.startsWith('&') ? this.comparison() : dice.pick(texts);
  }

  private comparison(): string {
    const { dice } = this;
    const kind = dice.below(6);
    if (kind === 0) return dice.pick(texts);
    const number = kind < 4 ? dice.pick(['0', '1', '5', '-1']) : `%{tx.${this.variable()}}`;
    return `${dice.pick(['', '', '!'])}@${dice.pick(['eq', 'eq', 'ge', 'lt', 'gt'])} ${number}`;
  }

  private linkActions(): string[] {
    const { dice } = this;
    const list = Array.from({ length: dice.pick([0, 0, 1, 1, 2]) }, () => this.action());
    if (dice.below(5) === 0) list.push('capture');
    if (dice.below(10) === 0) list.push('multiMatch');
    if (dice.below(3) === 0) list.push(dice.pick(transformations));
    return list;
  }

  private setvar(): string {
    const { dice } = this;
    const name = this.variable();
    const kind = dice.below(10);
    if (kind === 0) return `setvar:'!tx.${name}'`;
    if (kind === 1) return dice.pick(madeNames);
    const other = `%{tx.${this.variable()}}`;
    const value = dice.pick(['0', '1', '+1', '+5', '-2', '', other, `+${other}`, '%{MATCHED_VAR}']);
    return `setvar:'tx.${name}=${value}'`;
  }

  private removal(): string {
    const { dice } = this;
    const [what, meant] = this.removed();
    const equals = dice.pick(['=', '=', '=', ' = ']);
    if (dice.below(2) === 0) return `ctl:'ruleRemove${what}${equals}${meant}'`;
    const target = dice.below(3) === 0 ? `TX:${this.variable()}` : dice.pick(removedTargets);
    return `ctl:'ruleRemoveTarget${what}${equals.trimEnd()}${meant};${target}'`;
  }

  /** `ById` and so on, and what is meant. */
  private removed(): [what: string, meant: string] {
    const { dice, words } = this;
    const kind = dice.below(5);
    if (kind < 2 || words.tags.length === 0 || words.messages.length === 0) {
      return ['ById', this.idList()];
    }
    if (kind < 4) return ['ByTag', dice.pick([...words.tags, 'own', '1', '%{tx.own}'])];
    return ['ByMsg', dice.pick([...words.messages, 'own text'])];
  }

  private outcome(): string {
    const { dice } = this;
    // What ends many transactions early hides what comes after it.
    if (dice.below(12) > 0) return 'pass';
    return dice.pick(['deny', 'block', 'drop', 'allow', 'allow:phase', 'allow:request', ...moves]);
  }

  private logging(): string {
    return this.dice.pick(['nolog', 'nolog', 'nolog', 'log', 'nolog,auditlog']);
  }

  private metadata(): string[] {
    const { dice } = this;
    const list: string[] = [];
    if (dice.below(3) === 0) list.push(dice.pick(logTexts));
    if (dice.below(4) === 0) list.push(dice.pick(["tag:'own'", "tag:'own'", "tag:'%{tx.own}'"]));
    if (dice.below(6) === 0) list.push("severity:'WARNING'");
    return list;
  }

  private jump(): string[] {
    const { dice, words } = this;
    if (dice.below(5) > 0) return [];
    if (words.markers.length === 0 || dice.below(4) === 0) return [`skip:${1 + dice.below(4)}`];
    return [`skipAfter:'${dice.pick(words.markers)}'`];
  }
}

const triesMax = 20;

/** What reads matches of other rules, their captures, TX as a list. */
const leftovers: readonly RegExp[] = [
  /^SecAction.*MATCHED_VAR|^SecRule \S*MATCHED_VAR|^SecRule \S+ "[^"]*MATCHED_VAR/m,
  /%\{tx[.:]\d\}|TX:\d/i,
  /\bTX(?:[ |]|:\/)|%\{tx[.:]\//i,
];

/** What some requests of the corpora do, and many do not. */
const halves = [
  'REQUEST_METHOD "@streq POST"',
  'REQUEST_METHOD "!@streq GET"',
  'ARGS "@rx ([a-z])"',
  'ARGS "@rx ."',
  '&ARGS "@ge 1"',
  'REQUEST_HEADERS:User-Agent "@rx OWASP|curl"',
  'REQUEST_URI "@contains ?"',
  '&REQUEST_HEADERS:Content-Type "@eq 0"',
  '&REQUEST_HEADERS:Accept "@eq 0"',
  'REQUEST_HEADERS:Host "@streq localhost"',
  'REQUEST_HEADERS:Host "@rx ."',
];

const moves = ["redirect:'http://b/%{tx.own}'", 'deny,status:406'];
const ownVariables = ['own', 'own_b', 'late_x', '0', '1'];

const requestTargets = [
  'ARGS',
  'ARGS:x',
  'ARGS_NAMES',
  'ARGS:/^[a-q]/',
  'REQUEST_HEADERS:User-Agent',
  'REQUEST_HEADERS',
  'REQUEST_URI',
  'REQUEST_FILENAME',
  'REQUEST_COOKIES',
  'REQUEST_METHOD',
  'REQUEST_BODY',
  '&REQUEST_HEADERS:Host',
  '&REQUEST_HEADERS:Content-Type',
  '&ARGS',
  'FILES',
  'XML:/*',
];

const otherTargets = [
  'MATCHED_VAR',
  'MATCHED_VARS',
  'MATCHED_VAR_NAME',
  'MATCHED_VARS_NAMES',
  'REQBODY_PROCESSOR',
  'REQBODY_ERROR',
  'REQUEST_BODY_LENGTH',
  'MULTIPART_STRICT_ERROR',
  'RESPONSE_STATUS',
  'RESPONSE_BODY',
  'RESPONSE_HEADERS',
  'HIGHEST_SEVERITY',
  'REMOTE_ADDR',
  'UNIQUE_ID',
  'IP:n',
  '&IP:n',
  'ENV:e',
  'RULE:id',
  'ARGS_COMBINED_SIZE',
];

const txLists = [
  'TX',
  'TX:/score/',
  'TX:/^late/',
  'TX:/anomaly_score_pl/',
  '&TX:/score/',
  'TX:/^own/',
];
const exclusions = [
  '!ARGS:x',
  '!REQUEST_HEADERS:User-Agent',
  '!TX:own',
  '!REQUEST_COOKIES',
  '!TX:/^late/',
];
const transformations = [
  't:none',
  't:lowercase',
  't:urlDecodeUni',
  't:length',
  't:none,t:lowercase',
];

const texts = [
  '@rx [a-z]',
  '@rx (.)(.)',
  '@rx ^[0-9]+$',
  '!@rx ^$',
  '@rx ^%{tx.own}',
  '@streq POST',
  '@within %{tx.allowed_methods}',
  '!@within %{tx.allowed_methods}',
  '@contains /',
  '@pm select script passwd localhost',
  '@beginsWith /',
  '@unconditionalMatch',
  '@streq %{MATCHED_VAR}',
  '@contains %{tx.1}',
  '@detectSQLi',
];

const madeNames = [
  "setvar:'tx.late_%{MATCHED_VAR_NAME}=%{MATCHED_VAR}'",
  "setvar:'tx.late_%{tx.0}=1'",
  "setvar:'tx.%{tx.own}=1'",
  "setvar:'tx.inbound_%{tx.own}=+1'",
  "setvar:'tx.header_name_920450_%{tx.own}=/proxy/'",
];

const removedTargets = [
  'ARGS',
  'ARGS:x',
  'ARGS:/^[a-q]/',
  'REQUEST_HEADERS:User-Agent',
  'REQUEST_COOKIES',
  'REQBODY_ERROR',
  'XML:/*',
  'TX',
  'TX:/score/',
];

const switches = [
  'ctl:ruleEngine=Off',
  'ctl:ruleEngine=DetectionOnly',
  'ctl:ruleEngine=On',
  'ctl:requestBodyProcessor=JSON',
  'ctl:requestBodyProcessor=XML',
  'ctl:requestBodyProcessor=URLENCODED',
  'ctl:requestBodyProcessor=GRPC',
  'ctl:requestBodyAccess=Off',
  'ctl:forceRequestBodyVariable=On',
  'ctl:responseBodyAccess=Off',
  'ctl:auditLogParts=+E',
  'ctl:parseXmlIntoArgs=On',
];

const harmless = ['ctl:auditLogParts=+E', 'ctl:ruleEngine=On', 'ctl:requestBodyProcessor=JSON'];

const sideEffects = [
  'initcol:ip=%{REMOTE_ADDR}_%{tx.own}',
  "setvar:'ip.n=+1'",
  "setvar:'ip.%{tx.own}=%{tx.1}'",
  'expirevar:ip.n=60',
  "setenv:'e=%{tx:own_b}'",
  "setenv:'%{tx.own}=%{MATCHED_VAR}'",
  "setenv:'e=%{tx./score/}'",
  'setuid:%{tx.0}',
  'sanitiseMatched',
  'sanitiseArg:x',
];

const logTexts = [
  "msg:'own text'",
  "msg:'own text',logdata:'%{tx.0} %{MATCHED_VAR}'",
  "msg:'%{tx.anomaly_score} %{tx.blocking_inbound_anomaly_score} %{tx.own}'",
  "logdata:'%{MATCHED_VAR_NAME} %{tx.1}'",
  "logdata:'%{tx./score/} %{HIGHEST_SEVERITY}'",
];
