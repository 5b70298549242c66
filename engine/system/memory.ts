/** The only door to native memory calls: memory goes back to the system, files are mapped. */
export { easeHeap, mapFile, trimHeap } from '../../native-bindings/index.ts';
export { dropFilePages } from '../../native-bindings/files/file-pages.ts';
