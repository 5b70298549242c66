/** Which controller does what must be done once, where several share a store. */

/** The duties of a controller. */
export interface Duties {
  /** Whether they are this controller's now; asked each time before something is done. */
  areOurs(): boolean;
}

/** Those of a controller that is alone. */
export const alwaysOurs: Duties = { areOurs: () => true };
