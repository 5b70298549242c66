/**
 * Memory that is a file: what a thread writes there outlives a killed process, without a system
 * call. Never says what the bytes mean.
 */
import { addon } from './load-addon.ts';

/**
 * Maps the first `bytes` of a file, shared with everybody who maps it; made (mode 0600) or extended
 * with zeros where it is missing or shorter, its blocks reserved on the disk. Nobody may shorten it
 * while it is mapped: the process would end. Unmapped when the buffer is collected.
 * Units: at most 1 MB. Errors: an Error whose code is the errno name (EACCES, ENOSPC, ...).
 * Source: mmap(2), posix_fallocate(3).
 */
export function mapFile(path: string, bytes: number): ArrayBuffer {
  return addon.mapFile(path, bytes);
}
