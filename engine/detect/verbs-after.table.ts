/**
 * Words with which a sentence continues after what it is about, as parts of expressions. Each list
 * holds only words that what stands before it cannot have there as syntax or as an argument that
 * changes what runs: therefore the lists differ.
 */

/** Verbs of sentences, by what stands before them. */
export const verbsAfter = {
  /** A command line without what separates commands. */
  commandLine: 'says?|shows?|looks?|prints?|gives?|lists?|returns?|reports?|works?|fails?',
  /** The name of a program that runs scripts, at the beginning of a line. */
  interpreter: 'says?|said|gives?|gave|prints?|reports?|complains?|returns?|answers?',
  /** A program with the flag that makes it print its version. */
  versionFlag: 'says?|shows?|gives?|prints?|reports?|tells?',
  /** A query of SQL that is whole. */
  query: 'tells?|shows?|lists?|gives?|returns?|says?|works?|fails?',
  /** The address of a program on the writer's own machine. */
  address: 'works?|gives?|shows?|says?|is|does|returns?|fails?|refuses|answers',
  /** A call in a program: any verb in the third person, and words that no language has there. */
  call: String.raw`(?!unless\b|class\b)[a-z]{3,14}s|has|does|did|was|were|to|on|here|with|at|inside|instead|again`,
} as const;
