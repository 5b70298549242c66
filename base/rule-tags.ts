/** Tags of rules that both programs know. */

/** Of rules that a virtual patch became: their matches count as those of a guard. */
export const virtualPatchTag = 'virtual-patch';
