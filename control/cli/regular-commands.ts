/**
 * The commands that resources have alike, each from what it asks the service and how people see the
 * answer: lists, what one call answers, and removals.
 */

import type { Message } from '@bufbuild/protobuf';
import type { PageOf } from './all-pages.ts';
import type { ApiClient } from './api-client.ts';
import {
  textFlag,
  type CommandContext,
  type CommandDefinition,
  type FlagValues,
} from './command.ts';
import type { Table } from './output.ts';
import { notePage, pageFlags, readPage } from './paging.ts';
import { showMessage, showRemoved } from './show.ts';

type CommandText = Omit<CommandDefinition, 'run'>;

/** A list that is read page by page. */
export interface ListText<T, A extends PageOf<T>> extends CommandText {
  /** What --query is a part of; absent where the list is not searched. */
  readonly query?: string;
  readonly call: (
    api: ApiClient,
    asked: { readonly page: ReturnType<typeof readPage>; readonly query: string },
    args: readonly string[],
    flags: FlagValues,
  ) => Promise<A>;
  readonly table: (items: readonly T[]) => Table;
}

/** Shows a page of a list, and how much more there is. */
export function listCommand<T, A extends PageOf<T> & Message>({
  query,
  call,
  table,
  ...text
}: ListText<T, A>): CommandDefinition {
  const queryFlags = query === undefined ? [] : [{ flags: '--query <text>', summary: query }];
  return {
    ...text,
    flags: [...queryFlags, ...(text.flags ?? []), ...pageFlags],
    run: async (context, args, flags) => {
      const asked = { page: readPage(flags), query: textFlag(flags, 'query') ?? '' };
      const answer = await call(await context.api(), asked, args, flags);
      await showMessage(context, answer, table(answer.items));
      notePage(context.output, answer.items.length, answer.page?.total);
      return 0;
    },
  };
}

/** A call whose answer is one table. */
export interface CallText<A> extends CommandText {
  readonly call: (api: ApiClient, args: readonly string[], flags: FlagValues) => A | Promise<A>;
  readonly table: (answer: A, args: readonly string[]) => Table;
  /** Says what is not in the table; the exit code where it is not that of success. */
  readonly after?: (context: CommandContext, answer: A) => number | void;
}

/** Makes one call and shows its answer. */
export function callCommand<A extends Message>({
  call,
  table,
  after,
  ...text
}: CallText<A>): CommandDefinition {
  return {
    ...text,
    run: async (context, args, flags) => {
      const answer = await call(await context.api(), args, flags);
      await showMessage(context, answer, table(answer, args));
      return after?.(context, answer) ?? 0;
    },
  };
}

/** A removal of what the first argument names. */
export interface RemovalText extends CommandText {
  /** What is gone then. */
  readonly kind: string;
  readonly call: (api: ApiClient, id: string) => Promise<unknown>;
}

/** Removes one resource. */
export function deleteCommand({ kind, call, ...text }: RemovalText): CommandDefinition {
  return {
    ...text,
    run: async (context, [id = '']) => {
      await call(await context.api(), id);
      return showRemoved(context, kind, id);
    },
  };
}
