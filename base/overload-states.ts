/** The states of overload, in the order in which they get worse, then better. */

/**
 * `normal`: all is inspected. `pressed`: waits are long, nothing is shed yet. `shedding`: only a
 * share of requests is inspected. `probing`: the share grows while the waits stay short.
 */
export const overloadStates = ['normal', 'pressed', 'shedding', 'probing'] as const;
/** One of them. */
export type OverloadState = (typeof overloadStates)[number];
