/** The bounds of alerts: rules, what they are evaluated over, channels and messages. */

/** Rules, channels, silences, alerts, and the messages about them. */
export const alertLimits = {
  /** Resources of one installation. */
  rulesMax: 500,
  channelsMax: 100,
  silencesMax: 1_000,
  /** Channels of one rule. */
  channelsOfRuleMax: 20,
  /** Characters of a note, a reason. */
  noteCharsMax: 4_096,
  /** Values of one list in a filter. */
  filterValuesMax: 100,
  /** Window of a threshold rule, seconds: counts are kept in steps of ten seconds. */
  windowSecondsMin: 10,
  windowSecondsMax: 3_600,
  windowSeconds: 300,
  thresholdMax: 1_000_000_000,
  /** How long a condition holds before it fires, seconds. */
  forSecondsMax: 86_400,
  /** Time between messages about one alert, seconds; 0 sends none. */
  repeatSecondsMin: 60,
  repeatSecondsMax: 7 * 86_400,
  repeatSeconds: 3_600,
  /** Days before its end at which a certificate is reported. */
  withinDaysMax: 365,
  withinDays: 14,
  /** Longest silence, days: what is quiet for longer should be a disabled rule. */
  silenceDaysMax: 365,
  /** Alerts that one rule has at the same time; further ones are counted in its last one. */
  liveAlertsOfRuleMax: 200,
  /** Alerts kept, and how long those that ended are kept; with them go their notes. */
  alertsMax: 10_000,
  endedAlertsKeptMs: 90 * 86_400_000,
  /** Ended alerts that one round removes. */
  forgottenPerRound: 100,
  /** Notes of one alert; the timeline tells of what is left out. */
  notesMax: 200,
  /** How often rules are evaluated. */
  evaluateEveryMs: 5_000,
  /** Longest time between two writes of how far rules were evaluated. */
  progressEveryMs: 60_000,
  /** Nodes have this long to come back after control started before they count as missing. */
  startGraceMs: 60_000,
  /** How far back a start, or counts that come late, are evaluated. */
  lookBackMs: 24 * 3_600_000,
  /** Last match of a firing alert is written when it moved by so much. */
  matchedEveryMs: 60_000,
  /** Counts of security events: length of a step, and how long steps are kept. */
  countStepMs: 10_000,
  countsKeptMs: 26 * 3_600_000,
  /** Different combinations of a step; what is more is counted without its rules. */
  countTuplesMax: 1_000,
  /** Steps that a batch of counts forgets. */
  countStepsForgottenMax: 100,
  /** Steps of counts that are held decoded, for windows of an hour. */
  countStepsHeldMax: 512,
  /** Rules and families of attacks of one counted combination. */
  countedRulesMax: 64,
  /** Attempts of one message, and the waits between them: first, and longest. */
  attemptsMax: 8,
  retryFirstMs: 10_000,
  retryLongestMs: 10 * 60_000,
  /** Messages that wait for one channel; further ones are not sent, which their alert tells. */
  waitingPerChannelMax: 1_000,
  /** Records of messages that were sent or given up. */
  deliveriesKeptMax: 5_000,
  /** Channels that are sent to at the same time. */
  channelsAtOnceMax: 8,
  /** How often messages that are due are looked for, and the time for one attempt. */
  deliverEveryMs: 1_000,
  sendTimeoutMs: 15_000,
  /** Bytes of an answer that are read; more ends the attempt. */
  answerBytesMax: 64 * 1024,
  /** Headers of a webhook, characters of a secret, addresses of a mail. */
  headersMax: 16,
  secretCharsMax: 4_096,
  recipientsMax: 50,
  /** Characters of a title and of a text, after filling in. */
  titleCharsMax: 250,
  messageCharsMax: 4_000,
  /** Characters of a template, and custom fields of one language. */
  templateCharsMax: 8_000,
  customFieldsMax: 32,
  /** Alerts that the preview of a silence shows. */
  previewedAlertsMax: 20,
} as const;
