/** Expressions over command lines that people write about. Source: POSIX.1-2017, XCU chapter 2. */

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
