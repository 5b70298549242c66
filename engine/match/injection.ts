/** The engine's door to the detectors over one value: libinjection and the validators. */
export { detectSqli, detectXss } from '../../native-bindings/index.ts';
