/** The only door to the CPU time of the calling thread. */
export { threadCpuUs } from '../../native-bindings/index.ts';
