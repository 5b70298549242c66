/** Expressions over command lines that people write about. Source: POSIX.1-2017, XCU chapter 2. */

import { verbsAfter } from '../verbs-after.table.ts';

/** What Markdown, YAML, Dockerfiles, prompts and sentences have before a command. */
export const beforeCommand =
  /^(?:\s|[-*>$#%|`"'({!&;]|\d{1,3}[.)]|[A-Za-z][\w ]{0,40}:\s|(?:RUN|CMD|sudo|time)\s|[A-Za-z_]\w{0,32}=(?:[\w./:-]{0,64}|"[^"]{0,64}"|\$\([^)]{0,64}\)?)(?:\s|$)){0,12}/;

/** What reaches out of the writer's own folders, runs a program in a program, or writes pages. */
export const risky =
  /\$\((?!(?:git|date|pwd|nproc|basename|dirname|npm|node|ls|wc|seq)\b)|`|<\(|:\/\/|\$\{?IFS|\/(?:etc|proc|root|boot|sys|bin|sbin)(?:\/|\s|$)|\/dev\/(?!null)|\/(?:passwd|shadow)|\.ssh\b|\.aws\b|id_rsa|[\w-]\.(?:php\d?|phtml|jspx?|aspx?|cgi)\b|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d|\s-{1,2}(?:exec|execdir|eval|command|checkpoint)|\bBEGIN\b|\bsystem\b|[;|&]\s{0,4}$|>\s{0,4}(?:\/(?!dev\/null)|\.\.)|\s\/\*?\s{0,4}$/i;

/** Words before the command that runs, and the command with its arguments. */
export const command =
  /^[\s({!]{0,64}(?:(?:sudo|time|then|do|else|if|while|until|xargs)\s{1,8}){0,3}(?:[A-Za-z_]\w{0,32}=[\w./"-]{0,64}\s{1,8}){0,2}((?:\.{1,2}\/)?[\w.[-]{1,64})([^\n;|&]{0,300})/;

/** The head of a loop over names or lines, or of a branch on a test. */
export const loopHead =
  /^\s{0,16}(?:(?:for|select)\s{1,4}\w{1,32}\s{1,4}in\b|while\s{1,4}read\b|(?:if|while)\s{1,4}\[)/;

/** Programs that set up one host, each in several steps: `iptables -A …; iptables -P …`. */
export const steps =
  /^(?:ping6?|traceroute|tracert|ipconfig|ifconfig|iptables|ip6tables|ufw|route|mount|umount|chown)$/;

/** What makes a step one that tells an attacker something: how long it took. */
export const pause = /\s[-/](?:c|n|i|w|W)\s?\d/;

const verbs = `(?:${verbsAfter.commandLine})`;

/** The rest of a clause that is about a command, with the command's arguments. */
export const sentence = new RegExp(
  String.raw`^(?:[ \t]{1,4}(?!${verbs}\s|\/\s)[\w./$~-]{1,60}){0,4}[ \t]{1,4}${verbs}[ \t]{1,4}\S`,
);

/** Commands that show no contents of files: a sentence about them hides no attack. */
export const spoken: ReadonlySet<string> = new Set('ls echo pwd which date du df'.split(' '));

const argument = String.raw`(?:\$\(date [+\w%-]{1,24}\)|[^;|&\x60$\\!<>()\n"']|"[^"\x60$\\!\n]{0,200}"|'[^'\\!\n]{0,200}')`;
const place = String.raw`(?:\/usr(?:\/local)?\/bin\/)?`;
/** A prompt, or when a line of a table of `cron` runs. */
const beforeProgram = String.raw`^\s{0,8}(?:[$#][ \t]|(?:[\d*,/-]{1,12}[ \t]{1,4}){5}(?:root[ \t]{1,4})?)?`;

/** A whole line up to a pipe that prints or dumps, and its arguments. */
export const dumps = new RegExp(
  String.raw`${beforeProgram}${place}(?:pg_dump(?:all)?|mysqldump|mongodump)([ \t]${argument}{0,200})$`,
);
export const prints = new RegExp(
  String.raw`${beforeProgram}${place}(?:cat|echo|zcat|xzcat|gunzip -c|gzip -dc)([ \t]${argument}{1,200})$`,
);

/** The end of a pipe that keeps a dump: no server runs a file of that name. */
export const keeps =
  /^\s{0,4}(?:gzip|xz)(?: -\w{1,4})?\s{0,4}>\s{0,4}[\w./~-]{1,120}(?:\$\(date [+\w%\\-]{1,24}\)[\w.-]{0,24}){0,1}(?<=\.(?:gz|xz))(?=\s|$)/;

/** The end of a pipe into the client of a database, which runs what it is given as SQL. */
export const queries =
  /^\s{0,4}(?:psql|mysql)(?:[ \t]{1,4}(?:-{1,2}(?!c|e|f|-?command|-?execute|init|-?file)[\w-]{1,24}(?:=[\w.-]{1,40})?|[\w][\w.@-]{0,40})){0,8}[ \t]{0,4}(?=$|[\n.,?!])/;
