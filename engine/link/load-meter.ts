/**
 * Measures the load of this node for control: of the machine, of this process, and of the traffic
 * since the last reading. Decides nothing.
 */

import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  AgentMetricsSchema,
  type AgentMetrics,
  type AgentObservationHealthSchema,
} from '../../proto/gen/waf/v1/agent_pb.ts';
import { residentBytes } from '../../base/resident-bytes.ts';
import type { OverloadStatus } from '../contract/overload.ts';
import { durationBoundsUs, type CounterDelta } from '../contract/counters.ts';

interface Marks {
  readonly atUs: number;
  /** CPU time of the machine, milliseconds over all cores. */
  readonly busyMs: number;
  readonly idleMs: number;
  /** CPU time of this process with all its threads, microseconds. */
  readonly ownUs: number;
  /** Bytes over all network interfaces since the machine started. */
  readonly received: number;
  readonly sent: number;
}

/** Load between two readings; the first is since the meter was made. */
export class LoadMeter {
  readonly #frontThreads: number;
  #marks: Marks = marks();
  #requests = 0;
  #blocked = 0;
  #inspectionUs = 0;
  readonly #inspections = new Array<number>(durationBoundsUs.length + 1).fill(0);

  constructor(frontThreads: number) {
    this.#frontThreads = Math.max(1, frontThreads);
  }

  /** Takes what front threads counted. */
  count(deltas: readonly CounterDelta[]): void {
    for (const delta of deltas) {
      this.#requests += delta.requests;
      this.#blocked += delta.entries.get('outcome')?.get('blocked') ?? 0;
      this.#inspectionUs += delta.inspectionUs;
      delta.inspections.forEach((count, at) => (this.#inspections[at]! += count));
    }
  }

  /**
   * The load since the last reading. CPU is in percent of all cores, `wafEngineDemandPercent` the
   * share of the front threads' time that inspection took, bandwidth bytes a second over all
   * network interfaces, memory that of this process beside what it may take.
   */
  read(
    connections: number,
    overload: OverloadStatus,
    observationHealth: MessageInitShape<typeof AgentObservationHealthSchema>,
  ): AgentMetrics {
    const before = this.#marks;
    const now = marks();
    const seconds = Math.max((now.atUs - before.atUs) / 1e6, 0.001);
    const machineMs = now.busyMs - before.busyMs + (now.idleMs - before.idleMs);
    const memory = memoryOf();
    const rate = (count: number): bigint => BigInt(Math.round(count / seconds));
    const load = create(AgentMetricsSchema, {
      observationHealth,
      cpuPercent: percent(now.busyMs - before.busyMs, machineMs),
      memoryPercent: percent(memory.used, memory.total),
      activeConnections: BigInt(connections),
      requestsPerSecond: rate(this.#requests),
      blockedPerSecond: rate(this.#blocked),
      bandwidthInBps: rate(Math.max(0, now.received - before.received)),
      bandwidthOutBps: rate(Math.max(0, now.sent - before.sent)),
      memoryTotalBytes: BigInt(memory.total),
      memoryUsedBytes: BigInt(memory.used),
      goroutines: threadsOfProcess(),
      wafAgentCpuPercent: percent(now.ownUs - before.ownUs, seconds * 1e6 * availableParallelism()),
      wafEngineDemandPercent: percent(this.#inspectionUs, seconds * 1e6 * this.#frontThreads),
      wafPhaseP99Millis: BigInt(p99Ms(this.#inspections)),
      wafOverloadState: overload.state,
      wafOverloadAction: overload.action,
      wafProbePercent: overload.probePercent,
    });
    this.#marks = now;
    this.#requests = this.#blocked = this.#inspectionUs = 0;
    this.#inspections.fill(0);
    return load;
  }
}

function marks(): Marks {
  let busyMs = 0;
  let idleMs = 0;
  for (const { times } of cpus()) {
    idleMs += times.idle;
    busyMs += times.user + times.nice + times.sys + times.irq;
  }
  const { user, system } = process.cpuUsage();
  const traffic = interfaceBytes(readKernel('/proc/self/net/dev'));
  return { atUs: performance.now() * 1000, busyMs, idleMs, ownUs: user + system, ...traffic };
}

/**
 * Bytes received and sent, summed over the interfaces of a /proc/net/dev, loopback included; 0
 * where the kernel does not say. Source: proc(5).
 */
export function interfaceBytes(text: string): { readonly received: number; readonly sent: number } {
  let received = 0;
  let sent = 0;
  for (const [, fields = ''] of text.matchAll(/^\s*[^\s|]+:\s*(\d[\d ]*)$/gm)) {
    const numbers = fields.trim().split(/ +/).map(Number);
    received += numbers[0] ?? 0;
    sent += numbers[8] ?? 0;
  }
  return { received, sent };
}

/** Bytes: what this process holds, and what the machine or its own limit gives it at most. */
function memoryOf(): { readonly total: number; readonly used: number } {
  const machine = totalmem();
  const limit = process.constrainedMemory();
  const total = limit > 0 && limit < machine ? limit : machine;
  return { total, used: Math.min(total, residentBytes()) };
}

/** 0 where the kernel does not say. */
function threadsOfProcess(): number {
  return Number(/^Threads:\s+(\d+)$/m.exec(readKernel('/proc/self/status'))?.[1] ?? 0);
}

function readKernel(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Upper bound of the class in which the 99th of a hundred lies, milliseconds; 0 without any. */
function p99Ms(classes: readonly number[]): number {
  const all = classes.reduce((sum, count) => sum + count, 0);
  if (all === 0) return 0;
  let below = 0;
  const at = classes.findIndex((count) => (below += count) >= all * 0.99);
  return Math.ceil((durationBoundsUs[at] ?? durationBoundsUs.at(-1)!) / 1000);
}

/** Between 0 and 100, to a tenth. */
function percent(part: number, whole: number): number {
  if (whole <= 0) return 0;
  return Math.round(Math.min(100, Math.max(0, (part / whole) * 100)) * 10) / 10;
}
