/** The only door to native memory calls: they give freed memory back to the system. */
export { easeHeap, trimHeap } from '../../native-bindings/index.ts';
export { dropFilePages } from '../../native-bindings/pages/file-pages.ts';
