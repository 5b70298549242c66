/**
 * The order of a rule set: which rules there are, in which phase, with which links and
 * defaults. Works on the tree; names inside rules are looked up later.
 */

import { seclangLimits } from '../../../base/rule-limits.ts';
import type {
  ActionExpression,
  Directive,
  OperatorExpression,
  SecActionDirective,
  SecDefaultActionDirective,
  SecRuleDirective,
  VariableExpression,
} from '../language/ast.ts';
import type { SourceSpan } from '../language/diagnostic.ts';
import { createActionState } from './action-state.ts';
import { applyActions } from './link-actions.ts';
import { bindContext, type LinkContext } from './link-context.ts';
import { defaultPhase, readHead, type RuleHead } from './rule-head.ts';

/** A rule that is not linked yet; exceptions still change it. */
export interface RuleDraft {
  readonly directive: SecRuleDirective | SecActionDirective;
  readonly id: number;
  readonly phase: number;
  readonly defaults: readonly ActionExpression[];
  /** Targets after updates; empty for SecAction. */
  variables: VariableExpression[];
  /** Action lists of updates, in order. */
  readonly updates: ActionExpression[][];
  /** The operator of the last update; null without one. */
  operator: OperatorExpression | null;
  /** The other rules of its chain, in order; links have none of their own. */
  readonly links: RuleDraft[];
  removed: boolean;
}

/** The order in which rules and markers take effect. */
export type DraftItem =
  | { readonly kind: 'rule'; readonly draft: RuleDraft }
  | { readonly kind: 'marker'; readonly name: string };

/** Collects rules and markers from the directives, in order. Errors: reported. */
export function draftRules(directives: readonly Directive[], context: LinkContext): DraftItem[] {
  const drafting = new Drafting(context);
  for (const directive of directives) drafting.take(directive);
  drafting.end();
  return drafting.items;
}

class Drafting {
  readonly items: DraftItem[] = [];
  private readonly context: LinkContext;
  private readonly defaults = new Map<number, readonly ActionExpression[]>();
  private readonly placeOfId = new Map<number, SourceSpan>();
  /** The chain that waits for its next rule. */
  private open: RuleDraft | null = null;
  /** A rule before could not be read, and none with an id has come since. */
  private afterInvalid = false;
  private count = 0;

  constructor(context: LinkContext) {
    this.context = context;
  }

  take(directive: Directive): void {
    switch (directive.kind) {
      case 'SecRule':
        return this.takeRule(directive);
      case 'SecAction':
        return this.takeAction(directive);
      case 'SecMarker':
        this.breakChain(directive.span);
        this.items.push({ kind: 'marker', name: directive.label.text });
        return;
      case 'SecDefaultAction':
        return this.takeDefaults(directive);
      case 'Invalid':
        if (/^SecRule$/i.test(directive.name.text)) this.loseChain();
        return;
      default:
    }
  }

  /** Reports a chain that nothing follows; such a rule can never match and is left out. */
  end(): void {
    if (this.open === null) return;
    const message = 'nothing follows this chain: the rule can never match and is left out';
    this.context.report('warning', 'open-chain', message, this.open.directive.span);
    this.open.removed = true;
  }

  private takeRule(directive: SecRuleDirective): void {
    const head = readHead(directive.actions, this.context.report);
    if (this.open !== null) return this.takeLink(this.open, directive, head);
    // A rule without id after one that could not be read may be a link of its chain.
    if (this.afterInvalid && !head.hasId) return;
    this.afterInvalid = false;
    const draft = this.createDraft(directive, head, head.phase || defaultPhase);
    if (!head.hasId) this.reportMissingId(directive.span, 'error');
    this.addRule(draft);
    if (head.chain) this.open = draft;
  }

  private takeLink(starter: RuleDraft, directive: SecRuleDirective, head: RuleHead): void {
    const { report } = this.context;
    if (head.phase !== 0 && head.phase !== starter.phase) {
      const message = `a chain runs in the phase of its first rule, which is ${starter.phase}`;
      report('warning', 'phase-in-chain', message, directive.span);
    }
    if (head.hasId) {
      const message = 'only the first rule of a chain has an id: this one is not used';
      report('warning', 'id-in-chain', message, directive.span);
    }
    const link = this.createDraft(directive, { ...head, id: 0 }, starter.phase);
    if (starter.links.length >= seclangLimits.chainLinksMax) {
      const message = `a chain has at most ${seclangLimits.chainLinksMax} links`;
      report('error', 'chain-too-long', message, directive.span);
    } else starter.links.push(link);
    this.count += 1;
    if (!head.chain) this.open = null;
  }

  private takeAction(directive: SecActionDirective): void {
    this.breakChain(directive.span);
    const head = readHead(directive.actions, this.context.report);
    if (!head.hasId) this.reportMissingId(directive.span, 'warning');
    if (head.chain) {
      const message = 'a chain begins with SecRule: "chain" is not used here';
      this.context.report('warning', 'chain-in-action', message, directive.span);
    }
    this.addRule(this.createDraft(directive, head, head.phase || defaultPhase));
  }

  private createDraft(
    directive: SecRuleDirective | SecActionDirective,
    head: RuleHead,
    phase: number,
  ): RuleDraft {
    return {
      directive,
      id: head.id,
      phase,
      defaults: this.defaults.get(phase) ?? [],
      variables: directive.kind === 'SecRule' ? [...directive.variables] : [],
      updates: [],
      operator: null,
      links: [],
      removed: false,
    };
  }

  private addRule(draft: RuleDraft): void {
    const { span } = draft.directive;
    const first = this.placeOfId.get(draft.id);
    if (draft.id > 0 && first !== undefined) {
      const message = `Rule id ${draft.id} is already used by the rule at ${first.file}:${first.line}.`;
      this.context.report('error', 'duplicate-id', message, span);
    }
    if (draft.id > 0 && first === undefined) this.placeOfId.set(draft.id, span);
    this.count += 1;
    if (this.count > seclangLimits.rulesMax) {
      const message = `more than ${seclangLimits.rulesMax} rules`;
      this.context.report('error', 'too-many-rules', message, span);
      return;
    }
    this.items.push({ kind: 'rule', draft });
  }

  private reportMissingId(span: SourceSpan, severity: 'error' | 'warning'): void {
    const message = 'the rule has no id: exceptions and records cannot name it';
    this.context.report(severity, 'missing-id', message, span);
  }

  private takeDefaults(directive: SecDefaultActionDirective): void {
    const { report } = this.context;
    const head = readHead(directive.actions, report);
    const phase = head.phase || defaultPhase;
    const state = createActionState();
    const bind = bindContext(this.context, directive.span.file, 0);
    applyActions(state, directive.actions, 'defaults', this.context, bind);
    if (state.defaultDisruptive === null) {
      const message = 'SecDefaultAction must state a disruptive action';
      report('error', 'defaults-without-disruption', message, directive.span);
    }
    if (this.defaults.has(phase)) {
      const message = `SecDefaultAction may stand once for a phase; phase ${phase} has one already`;
      report('error', 'duplicate-defaults', message, directive.span);
    } else this.defaults.set(phase, directive.actions);
  }

  /** Reports that a chain is followed by something other than its next rule. */
  private breakChain(span: SourceSpan): void {
    if (this.open === null) return;
    const message = 'the chain before this needs a SecRule as its next link';
    this.context.report('error', 'broken-chain', message, span);
    this.open = null;
  }

  /** The next link could not be read: whether the chain continues is not known. */
  private loseChain(): void {
    this.open = null;
    this.afterInvalid = true;
  }
}
