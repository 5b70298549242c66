/**
 * Watches one run of the oracle and notes which rules read effects of another rule: its last
 * match, its captures, or a TX variable that it named by a macro. Only what was read matters to a
 * result, so all else may differ between two engines. Works from the linked program and the run
 * alone; it must not ask the plan, whose claims it is there to check.
 */

import type { Transaction } from '../../engine/rules/transaction/transaction.ts';
import type { Rule } from '../../engine/rules/transaction/types.ts';
import type { Entry } from '../../engine/rules/transaction/values.ts';
import type { Trace, TraceStep } from '../../engine/rules/oracle/trace.ts';

/** What one transaction read of other rules' effects. */
export interface ForeignReads {
  /** MATCHED_VAR or MATCHED_VAR_NAME, by a rule that had matched nothing yet. */
  readonly matches: boolean;
  /** TX.0 to TX.9, by a rule that had not captured yet; log texts aside. */
  readonly captures: boolean;
  /** Ids of the rules whose log texts show another rule's captures. */
  readonly loggedBy: ReadonlySet<number>;
  /** TX variables that a rule read which had not set them. */
  readonly names: ReadonlySet<string>;
  /** TX variables that a chain's early link named by a macro. */
  readonly copies: ReadonlySet<string>;
}

/** A transaction that notes its reads, and the trace that the oracle has to be given with it. */
export interface Watch {
  readonly trace: Trace;
  reads(): ForeignReads;
}

const isCapture = (name: string): boolean => /^\d$/.test(name);
const captureNames = Array.from({ length: 10 }, (_, i) => String(i));

/** Starts to watch `tx`, which must be new. */
export function watchForeignReads(tx: Transaction): Watch {
  const notes = new Notes(tx);
  watchMatches(tx, notes);
  watchVariables(tx, notes);
  return { trace: (_level, _text, step) => notes.follow(step), reads: () => notes };
}

class Notes implements ForeignReads {
  matches = false;
  captures = false;
  readonly loggedBy = new Set<number>();
  readonly names = new Set<string>();
  readonly copies = new Set<string>();
  /** True while the values of a link are tested and its actions run. */
  private evaluating = false;
  /** True while the texts of a rule that matched are expanded for its log record. */
  private logging = false;
  /** The rule that wrote or removed the variable last. */
  private readonly writers = new Map<string, Rule | null>();
  private readonly tx: Transaction;
  /** A read that only becomes one if the next access does not write the same variable. */
  private pending: (() => void) | null = null;
  private pendingName = '';

  constructor(tx: Transaction) {
    this.tx = tx;
  }

  /**
   * The oracle says when a chain link begins and ends, and when a record has been written. Between
   * rules it expands tags for removals: whether a rule is removed shows in what it does.
   */
  follow(step?: TraceStep): void {
    this.settle();
    this.evaluating = step === undefined ? this.evaluating : step === 'link begins';
    this.logging = step === 'link matched' && writesRecord(this.tx.rule);
  }

  readMatch(): void {
    if (!this.evaluating && !this.logging) return;
    if (this.tx.rule === null || !names(this.tx.rule, /^(?:MATCHED_VAR|RULE)/)) return;
    if (this.tx.matchedVariables.length === 0) this.matches = true;
  }

  /** A read for a sum that goes back to the variable tells nobody anything. */
  read(name: string): void {
    this.settle();
    const { rule } = this.tx;
    const writer = this.writers.get(name);
    // Nobody left anything in a variable that was never written.
    if (rule === null || writer === undefined || writer === rule) return;
    if (!this.evaluating && !this.logging) return;
    if (isCapture(name) && !names(rule, /^(?:TX|RULE)/)) return;
    const { logging } = this;
    this.pendingName = name;
    this.pending = (): void => {
      if (!isCapture(name)) this.names.add(name);
      else if (logging) this.loggedBy.add(rule.id);
      else this.captures = true;
    };
  }

  /** A count of TX variables reads which of them there are. */
  count(list: readonly Entry[]): void {
    for (let link = this.tx.rule; link !== null; link = link.next) {
      for (const { variable, selector, count } of link.targets) {
        if (!count || variable.name !== 'TX' || selector?.kind === 'key') continue;
        for (const name of [...captureNames, ...list.map(({ key }) => key)]) {
          if (selector?.kind !== 'regex' || selector.regex.test(name)) this.read(name);
        }
      }
    }
  }

  written(name: string): void {
    if (this.pendingName === name) this.pending = null;
    this.settle();
    const { rule } = this.tx;
    this.writers.set(name, rule);
    if (rule !== null && isCopy(rule, name)) this.copies.add(name);
    else this.copies.delete(name);
  }

  settle(): void {
    this.pending?.();
    this.pending = null;
    this.pendingName = '';
  }
}

/** Does the rule name such a variable anywhere but in tags, which removals expand? */
function names(rule: Rule, variable: RegExp): boolean {
  for (let link: Rule | null = rule; link !== null; link = link.next) {
    if ([...link.targets, ...link.exclusions].some((one) => variable.test(one.variable.name))) {
      return true;
    }
    const { operator, actions, message, logData, disruption } = link;
    const texts = [operator?.argument ?? '', ...actions.map(({ argument }) => argument)];
    for (const text of [message, logData, disruption.location]) texts.push(text?.source ?? '');
    const macros = texts.flatMap((text) => [...text.matchAll(/%\{(\w+)/g)]);
    if (macros.some(([, name = '']) => variable.test(name.toUpperCase()))) return true;
    if (actions.some(({ definition }) => definition.name.startsWith('sanitiseMatched')))
      return true;
  }
  return false;
}

function writesRecord(rule: Rule | null): boolean {
  return rule !== null && (rule.log || rule.auditLog);
}

/** Could one of the chain's links but the last have made the name from a macro? */
function isCopy(rule: Rule, name: string): boolean {
  for (let link = rule; link.next !== null; link = link.next) {
    for (const { effect } of link.actions) {
      if (effect?.kind !== 'setTx' || effect.name.literal !== null) continue;
      const [head] = effect.name.parts;
      if (typeof head === 'string' && head !== '' && name.startsWith(head)) return true;
    }
  }
  return false;
}

function watchMatches(tx: Transaction, notes: Notes): void {
  for (const field of ['matchedVariable', 'matchedVariableName'] as const) {
    let value = tx[field];
    Object.defineProperty(tx, field, {
      configurable: true,
      get() {
        notes.readMatch();
        return value;
      },
      set(next: string) {
        value = next;
      },
    });
  }
}

function watchVariables(tx: Transaction, notes: Notes): void {
  const { tx: variables } = tx;
  const plain = {
    get: variables.get.bind(variables),
    set: variables.set.bind(variables),
    delete: variables.delete.bind(variables),
    entries: variables.entries.bind(variables),
    matching: variables.matching.bind(variables),
  };
  let inside = false;
  /** The collection calls itself: only calls from outside are reads. */
  const within = <T>(call: () => T): T => {
    const before = inside;
    inside = true;
    try {
      return call();
    } finally {
      inside = before;
    }
  };
  variables.get = (name) => {
    if (!inside) notes.read(name);
    return within(() => plain.get(name));
  };
  variables.set = (name, value) => {
    notes.written(name);
    within(() => plain.set(name, value));
  };
  variables.delete = (name) => {
    notes.written(name);
    within(() => plain.delete(name));
  };
  // Rules list all of TX and then select by name: a variable is read where its value is.
  variables.entries = () => {
    const list = within(() => plain.entries());
    if (inside) return list;
    notes.count(list);
    return list.map(({ key, value }) => ({
      key,
      get value() {
        notes.read(key);
        return value;
      },
    }));
  };
  variables.matching = (regex) => {
    const list = within(() => plain.matching(regex));
    const found = captureNames.filter((name) => regex.test(name));
    for (const name of [...found, ...list.map(({ key }) => key)]) notes.read(name);
    return list;
  };
  variables.snapshot = () => {
    notes.settle();
    return new Map(within(() => plain.entries()).map(({ key, value }) => [key, value]));
  };
}
