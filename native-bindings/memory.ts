/** Gives memory back to the system. Never frees anything that is in use. */
import { addon } from './load-addon.ts';

/**
 * Asks V8 to collect this thread's heap bit by bit and to shrink it; returns at once. False where
 * this Node does not offer it. Cost: one or two pauses of some milliseconds within the next second.
 * Source: v8::Isolate::MemoryPressureNotification, level moderate.
 */
export function easeHeap(): boolean {
  return addon.easeHeap();
}

/**
 * Gives freed native memory of the whole process back to the system; false when there was none.
 * Cost: milliseconds, in which other threads may wait for memory. Source: malloc_trim(3).
 */
export function trimHeap(): boolean {
  return addon.trimHeap();
}
