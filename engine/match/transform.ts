/** The engine's door to the SecLang transformations. Never decides which rule uses which. */
export {
  fillersRemovedId,
  setUnicodeMap,
  transformationIds,
  transformationNames,
  transformText,
} from '../../native-bindings/index.ts';
