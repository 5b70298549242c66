/**
 * Forms: fields by a list, what failed beside the button, and what happens when somebody else saved
 * meanwhile: both versions are shown, nothing that was typed is lost.
 */

import { Code, ConnectError } from '@connectrpc/connect';
import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../call.ts';
import { said } from '../text/sentences.ts';
import { t } from '../text/text.ts';
import { Conflict, Question, type Change } from './conflict.tsx';
import { refusalText } from './refusal.ts';
import { refusedField } from './refused-field.ts';
import { FileInput } from './file-input.tsx';
import { lacking, Rights } from './rights.tsx';

/** One field of a form. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly kind?: 'text' | 'number' | 'password' | 'check' | 'area' | 'file';
  /** Values and their texts; makes it a choice. */
  readonly choices?: readonly (readonly [value: string, label: string])[];
  readonly value?: string;
  readonly required?: boolean;
  readonly hint?: string;
  /** Fields of the API that this one fills, by the last part of their path; its name at least. */
  readonly api?: readonly string[];
  /** Stands beside an area whose lines are not broken. */
  readonly beside?: (of: BesideProps) => JSX.Element;
  /** The field that gets the text of a file, so that it can be looked at and changed. */
  readonly into?: string;
  /** Called with each choice that is made: for fields that depend on it. */
  readonly chosen?: (value: string) => void;
}

/** What stands beside an area knows: the area, and what the API has against its text. */
export interface BesideProps {
  readonly area: RefObject<HTMLTextAreaElement | null>;
  /** '' for nothing. */
  readonly problem: string;
}

/** What was entered, by field; a check that is set is 'on', a file is its text. */
export type Values = Readonly<Record<string, string>>;

/** What a form edits, and the newest that was read of it. */
export interface Base<T> {
  current: T;
  newest: T;
}

/** The record of a form: as it was read last, until a person types; `Edit` has to know it. */
export function useBase<T>(read: T): Base<T> {
  const base = useRef<Base<T>>({ current: read, newest: read });
  base.current.newest = read;
  return base.current;
}

/** The record whose form is open, and what opens one by its id; it stays when others delete it. */
export function useOpened<T extends { readonly id: string }>(
  items: readonly T[],
): [opened: T | undefined, open: (id: string) => void] {
  const [id, open] = useState('');
  const last = useRef<T | undefined>(undefined);
  const kept = last.current?.id === id ? last.current : undefined;
  last.current = items.find((one) => one.id === id) ?? kept;
  return [last.current, open];
}

/** What a form is made of. */
export interface EditProps {
  readonly label: string;
  readonly fields: readonly Field[];
  readonly codes: readonly string[];
  readonly submit: string;
  readonly save: (values: Values) => Promise<unknown>;
  /** What the fields show: what others change in it appears while nothing is typed. */
  readonly base?: Base<unknown>;
  /** Called after each save that worked. */
  readonly saved?: () => void;
  readonly done?: string;
  /** Keeps what was typed after a save: for questions that are asked again. */
  readonly keep?: boolean;
  /** Reads the record again for the next save, and says what its fields hold now. */
  readonly latest?: () => Promise<Values>;
  /** A save leaves what the fields do not show: who changed only that is nobody to ask about. */
  readonly apart?: boolean;
  /** What a person has to accept before these values are saved; '' for nothing. */
  readonly ask?: (values: Values) => Promise<string>;
}

/** Lines of a long text that are shown at once. */
const areaRowsMax = 20;

type State = 'idle' | 'busy' | 'done';

/** The form. */
export function Edit(props: EditProps): JSX.Element {
  const { label, codes, submit, done } = props;
  const form = useRef<HTMLFormElement>(null);
  const { fields, typed, settled } = useFollowing(form, props);
  const saving = useSaving(form, { ...props, fields }, settled);
  const { state, error, theirs, question, run, take, refuse } = saving;
  const refused = error === null ? null : refusedField(messageOf(error), fields);
  useEffect(() => {
    const input = refused === null ? null : form.current?.elements.namedItem(refused.name);
    if (input instanceof HTMLElement) input.focus();
  }, [error]);
  return (
    <form
      class="edit"
      ref={form}
      aria-label={label}
      onInput={typed}
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          problem={refused?.name === field.name ? refused.problem : ''}
        />
      ))}
      {theirs !== null && <Conflict changes={changesIn(fields, theirs)} take={take} />}
      {question !== '' && (
        <Question
          text={question}
          busy={state === 'busy'}
          accept={() => form.current!.reportValidity() && run(question)}
          refuse={refuse}
        />
      )}
      <p class="actions">
        <button class="primary" disabled={state === 'busy' || lacking(codes) !== ''}>
          {theirs === null ? submit : t('edit.keepMine')}
        </button>
        <Rights codes={codes} />
      </p>
      <div aria-live="polite">
        {error !== null && refused === null && <p class="notice">{refusalText(error)}</p>}
        {state === 'done' && <p class="done">{done ?? t('edit.saved')}</p>}
      </div>
    </form>
  );
}

/** The fields as a person sees them, and when they were typed in or saved. */
interface Following {
  readonly fields: readonly Field[];
  readonly typed: () => void;
  readonly settled: () => void;
}

/**
 * Has the fields of a form follow its record until a person types in one: from then on all of them,
 * and the record that a save compares with, stay as they were.
 */
function useFollowing(
  form: RefObject<HTMLFormElement | null>,
  { fields, base }: EditProps,
): Following {
  const dirty = useRef(false);
  const seen = useRef(base?.newest);
  const held = useRef(heldBy(fields));
  if (base !== undefined && seen.current !== base.newest && !dirty.current) {
    base.current = base.newest;
    seen.current = base.newest;
    held.current = heldBy(fields);
  }
  const shown = JSON.stringify(held.current);
  const first = useRef(shown);
  useLayoutEffect(() => {
    if (shown !== first.current) fill(form.current!, held.current);
    first.current = shown;
  }, [shown]);
  const pinned = fields.map((field) => {
    const value = held.current[field.name];
    return value === undefined ? field : { ...field, value };
  });
  return {
    fields: base === undefined ? fields : pinned,
    typed: () => {
      dirty.current = true;
    },
    settled: () => {
      dirty.current = false;
      seen.current = base?.newest;
    },
  };
}

/** How far a save is, and what is in its way. */
interface Saving {
  readonly state: State;
  readonly error: unknown;
  readonly theirs: Values | null;
  readonly question: string;
  /** Saves; `accepted` is the question that was answered with yes. */
  readonly run: (accepted?: string) => void;
  /** Fills in what somebody else saved. */
  readonly take: () => void;
  /** Answers the question with no. */
  readonly refuse: () => void;
}

function useSaving(
  form: RefObject<HTMLFormElement | null>,
  props: EditProps,
  settled: () => void,
): Saving {
  const { fields, saved, keep = false, latest, ask } = props;
  const [state, setState] = useState<State>('idle');
  const [error, setError] = useState<unknown>(null);
  const [theirs, setTheirs] = useState<Values | null>(null);
  const [question, setQuestion] = useState('');
  const start = async (accepted: string): Promise<void> => {
    const values = await valuesOf(form.current!, fields);
    setState('busy');
    setError(null);
    try {
      const asked = (await ask?.(values)) ?? '';
      setQuestion(asked === accepted ? '' : asked);
      if (asked !== accepted) {
        setState('idle');
        return;
      }
      await saveOver(props, theirs ?? heldBy(fields), values, setTheirs);
      settled();
      saved?.();
      setTheirs(null);
      setState('done');
      if (latest === undefined && !keep) clear(form.current, fields);
    } catch (thrown) {
      setState('idle');
      setError(thrown);
    }
  };
  const run = (accepted = ''): void => {
    start(accepted).catch((thrown: unknown) => setError(thrown));
  };
  const take = (): void => {
    if (theirs !== null) fill(form.current!, theirs);
    settled();
    setTheirs(null);
    setError(null);
  };
  return { state, error, theirs, question, run, take, refuse: () => setQuestion('') };
}

/**
 * Saves over what is known. Where somebody else saved first, `found` gets what the fields hold now,
 * unless that is what is known. Errors: of the call.
 */
async function saveOver(
  { fields, save, latest, apart = false }: EditProps,
  known: Values,
  values: Values,
  found: (theirs: Values) => void,
): Promise<void> {
  try {
    await save(values);
  } catch (thrown) {
    if (latest === undefined || !isConflict(thrown)) throw thrown;
    const now = await latest();
    const same = fields.every(({ name, kind }) => {
      const before = known[name] ?? '';
      // Nobody sees whether a secret is another one now.
      return (now[name] ?? '') === before && (kind !== 'password' || values[name] === before);
    });
    if (!apart || !same) {
      found(now);
      throw thrown;
    }
    await save(values);
  }
}

/** Whether somebody else saved first. */
function isConflict(thrown: unknown): boolean {
  return ConnectError.from(thrown).code === Code.Aborted;
}

/** A field; a problem that the API has with it stands below it, and is read with it. */
function FieldInput({ field, problem }: ControlProps): JSX.Element {
  const { name, label, kind = 'text', value = '', hint } = field;
  const note =
    problem === '' ? (
      hint !== undefined && <small>{hint}</small>
    ) : (
      <small class="notice" role="alert">
        {said(problem)}
      </small>
    );
  if (kind === 'check') {
    return (
      <label class="check">
        <input type="checkbox" name={name} defaultChecked={value === 'on'} {...wrong(problem)} />
        <span>{label}</span>
        {note}
      </label>
    );
  }
  return (
    <label class={kind === 'area' ? 'area' : ''}>
      <span>{label}</span>
      <Control field={field} problem={problem} />
      {note}
    </label>
  );
}

const wrong = (problem: string): object => (problem === '' ? {} : { 'aria-invalid': 'true' });

interface ControlProps {
  readonly field: Field;
  readonly problem: string;
}

function Control({ field, problem }: ControlProps): JSX.Element {
  const { name, kind = 'text', choices, value = '', required = false, chosen, into } = field;
  if (choices !== undefined) {
    return (
      <select
        name={name}
        defaultValue={value}
        onChange={({ currentTarget }) => chosen?.(currentTarget.value)}
        {...wrong(problem)}
      >
        {choices.map(([one, text]) => (
          <option key={one} value={one} selected={one === value}>
            {text}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'file') return <FileInput {...{ name, required, into }} wrong={wrong(problem)} />;
  if (kind === 'area') return <Area field={field} problem={problem} />;
  return <input {...inputProps(field)} {...wrong(problem)} />;
}

/** A text of several lines. */
function Area({ field, problem }: ControlProps): JSX.Element {
  const { name, value = '', required = false, beside: Beside } = field;
  const area = useRef<HTMLTextAreaElement>(null);
  return (
    <>
      {Beside !== undefined && <Beside area={area} problem={problem} />}
      <textarea
        ref={area}
        name={name}
        rows={rowsOf(value, required || Beside !== undefined)}
        required={required}
        spellcheck={false}
        defaultValue={value}
        {...(Beside === undefined ? {} : { wrap: 'off' })}
        {...wrong(problem)}
      />
    </>
  );
}

/** Lines that an area shows: what it holds and one more, within reason. */
function rowsOf(value: string, required: boolean): number {
  return Math.max(required ? 5 : 3, Math.min(areaRowsMax, value.split('\n').length + 1));
}

function inputProps({ name, kind = 'text', value = '', required = false }: Field): object {
  const autoComplete = kind === 'password' ? 'new-password' : 'off';
  return { name, type: kind, required, autoComplete, step: 'any', defaultValue: value };
}

/** What a form does not hold as it was read, and what a person reads of it. */
function changesIn(fields: readonly Field[], theirs: Values): readonly Change[] {
  return fields
    .filter(({ name, value = '' }) => (theirs[name] ?? '') !== value)
    .map((field) => ({ label: field.label, now: shownValue(field, theirs[field.name] ?? '') }));
}

/** The words of a choice, not its code. */
function shownValue({ kind, choices }: Field, value: string): string {
  if (kind === 'check') return t(value === 'on' ? 'edit.set' : 'edit.notSet');
  return choices?.find(([one]) => one === value)?.[1] ?? value;
}

/** What fields hold, by name. */
export function heldBy(fields: readonly Field[]): Values {
  return Object.fromEntries(fields.map(({ name, value = '' }) => [name, value]));
}

async function valuesOf(form: HTMLFormElement, fields: readonly Field[]): Promise<Values> {
  const data = new FormData(form);
  const entries = fields.map(async ({ name, kind }) => {
    const value = data.get(name);
    if (value instanceof File) return [name, await value.text()] as const;
    const text = value ?? '';
    return [name, kind === 'password' || kind === 'area' ? text : text.trim()] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** The form as it is shown at first; choices that other fields depend on stay as they were made. */
function clear(form: HTMLFormElement | null, fields: readonly Field[]): void {
  if (form === null) return;
  form.reset();
  fill(form, heldBy(fields.filter(({ chosen }) => chosen !== undefined)));
}

function fill(form: HTMLFormElement, values: Values): void {
  for (const [name, value] of Object.entries(values)) {
    const input = form.elements.namedItem(name);
    if (input instanceof HTMLInputElement && input.type === 'checkbox') {
      input.checked = value === 'on';
    } else if (
      input instanceof HTMLInputElement ||
      input instanceof HTMLSelectElement ||
      input instanceof HTMLTextAreaElement
    ) {
      input.value = value;
    }
  }
}

/** The lines or comma-separated parts of a text. */
export function partsOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(/[\n,]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
