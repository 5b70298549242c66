/**
 * The words and phrases that hand-written sources must not use, each with its replacement. A word
 * that is ordinary English elsewhere stands here as the phrase in which it was private.
 */

/** One entry: the pattern, its replacement, and a sentence that the pattern must find. */
export interface ForbiddenWord {
  readonly pattern: RegExp;
  readonly instead: string;
  readonly planted: string;
}

const phrase = (pattern: RegExp, instead: string, planted: string): ForbiddenWord => ({
  pattern,
  instead,
  planted,
});

/** The table. Patterns match one line of a comment, a string or a Markdown file. */
export const forbiddenWords: readonly ForbiddenWord[] = [
  phrase(/\b(behaviour|neighbour|artefact|catalogue|favour|honour)/i, 'American', 'A neighbour.'),
  phrase(/\bcolours?\b/i, 'color', 'The colour of a bar.'),
  phrase(
    /\b(serial|summar|material|initial|optim|recogn)is(e|ed|es|ing|ation)\b/i,
    '-ize',
    'Serialised.',
  ),
  phrase(/\b(normalise(d|s)?|analyse(d|rs?)?)\b/i, 'normalize, analyze', 'Samples are analysed.'),
  phrase(/\bforesight\b/i, 'phase memo', 'The foresight of a phase.'),
  phrase(/\bforeseen?\b/i, 'decided in advance', 'Rules that were foreseen.'),
  phrase(/\bdecided? ahead\b/i, 'memoize, fold', 'Rules that are decided ahead.'),
  phrase(/\bknown ahead\b/i, 'known while planning', 'What is not known ahead.'),
  phrase(/\bwho would notice\b/i, 'liveness', 'The question who would notice.'),
  phrase(/\bmost telling\b/i, 'most selective', 'The most telling link.'),
  phrase(/\bforeseeable\b/i, 'static analysis', 'Which rules are foreseeable.'),
  phrase(/\bbeforehand\b/i, 'in advance; planning request', 'Compiled beforehand.'),
  phrase(/\bhasty\b/i, 'provisional', 'A hasty policy serves.'),
  phrase(/\bput(s|ting)? off\b/i, 'debounce, postpone', 'The write is put off.'),
  phrase(/\bso many\b/i, 'at most N, N or more', 'At most so many records.'),
  phrase(/\b(is|are|was|were) told\b/i, 'report, log, return', 'The operator is told.'),
  phrase(/\btold (so|apart)\b/i, 'report; distinguish', 'Both are to be told apart.'),
  phrase(/\bsa(y|ys|id) so\b/i, 'report, mark, print a note', 'A full disk says so.'),
  phrase(/\bsays? otherwise\b/i, 'unless … is given', 'Added unless a flag says otherwise.'),
  phrase(/\bgo(es|ing)? on\b/i, 'continue', 'The scan goes on.'),
  phrase(/\bg(ave|ives?|iving) way\b/i, 'be evicted, be replaced', 'The oldest gives way.'),
  phrase(/\bwhat of\b/i, 'which, how much of', 'What of a body is read.'),
  phrase(/\basks? of\b/i, 'need, demand, read', 'Rules that ask of scores.'),
  phrase(/\ball the same\b/i, 'still, anyway', 'It is built all the same.'),
  phrase(/\bleaves? (\S+ ){0,3}behind\b/i, 'leave, leak', 'It leaves no file behind.'),
  phrase(/\bleft (\S+ ){0,3}behind\b/i, 'leftover', 'What a crash left behind.'),
  // Allowed for proxies, CDNs and load balancers in front of a server only.
  phrase(
    /\bbehind (?!(a|another|the|your|our|trusted|other) (\S+ )?(prox(y|ies)|CDN|load balancer)\b)/i,
    'after, past, following, of',
    'The first key behind the range.',
  ),
  phrase(/\bno \S+( \S+)? has this id\b/i, 'No site with the id "x".', 'no site has this id'),
  phrase(/\bnothing is served here\b/i, 'Unknown path or method.', 'nothing is served here'),
  phrase(
    /\bwhat no flag names\b/i,
    'unspecified options',
    'Change a site; what no flag names stays',
  ),
  phrase(
    /\bis unknown; known are\b/i,
    'Unknown field "x". Allowed: …',
    'is unknown; known are a, b',
  ),
  phrase(/\bknown are\b/i, 'Allowed: …', 'an unknown key; known are a, b'),
  phrase(
    /\bno terminal to ask\b/i,
    'Run this in an interactive terminal.',
    'no terminal to ask at',
  ),
  phrase(
    /\bin place of the one of its kind\b/i,
    'replace',
    'Keep it in place of the one of its kind',
  ),
  phrase(
    /\bstands? before the product\b/i,
    'trusted proxies',
    'Which proxies stand before the product',
  ),
  phrase(/\ba rule that is not kept\b/i, 'without saving it', 'Print a rule that is not kept'),
  phrase(/\bwhat it weighs\b/i, 'memory', 'How fast it starts and what it weighs.'),
  phrase(
    /\b(did|does) not answer properly\b/i,
    'Could not connect',
    'The origin did not answer properly.',
  ),
];
