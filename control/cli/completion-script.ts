/**
 * The completion scripts. Each is a table made from the commands and one function that reads it:
 * the words so far give the command, flags and their values are skipped on the way.
 */

import { walkTree, type TreeFlag, type TreeNode, type ValueHint } from './command-tree.ts';

/** Shells with a script. */
export const shells = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
/** Name of a shell with a script. */
export type Shell = keyof typeof shells;

/** What a shell offers where a path is wanted. */
const pathMark = '@path';

/** Values as one text: choices, or the mark for paths. */
function valuesOf(value: ValueHint | null): string {
  if (value === null) return '';
  return value.isPath ? pathMark : value.choices.join(' ');
}

/** Text inside single quotes; all shells here agree on this form. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const pathOf = (node: TreeNode): string => node.path.join(' ');

/** Lines `'path' ) name='words' ;;` of a case statement; empty ones are left out. */
function cases(
  tree: TreeNode,
  variable: string,
  words: (node: TreeNode) => readonly string[],
): string[] {
  return [...walkTree(tree)].flatMap((node) => {
    const text = words(node).join(' ');
    return text === '' ? [] : [`    ${quoted(pathOf(node))}) ${variable}=${quoted(text)} ;;`];
  });
}

/** Lines `'path --flag') values='…' ;;` for every flag that takes a value. */
function valueCases(tree: TreeNode): string[] {
  return [...walkTree(tree)].flatMap((node) =>
    node.flags.flatMap((flag) => {
      if (flag.value === null) return [];
      const patterns = flag.names.map((name) => quoted(`${pathOf(node)} ${name}`)).join('|');
      return [`    ${patterns}) takes=1 values=${quoted(valuesOf(flag.value))} ;;`];
    }),
  );
}

const flagNames = (node: TreeNode): string[] => node.flags.flatMap(({ names }) => names);
const childNames = (node: TreeNode): string[] => node.children.map(({ path }) => path.at(-1) ?? '');
/** What the positional arguments may be, all of them together. */
const argumentWords = (node: TreeNode): string[] => [
  ...new Set(node.arguments.map(valuesOf).filter((text) => text !== '')),
];

/** Tables and the walk over the words; bash and zsh share them. */
function posixTables(tree: TreeNode, local: string): string {
  return `_waf_command() {
  # Sets subs, flags and args of the command in $1.
  subs= flags= args=
  case "$1" in
${cases(tree, 'subs', childNames).join('\n')}
  esac
  case "$1" in
${cases(tree, 'flags', flagNames).join('\n')}
  esac
  case "$1" in
${cases(tree, 'args', argumentWords).join('\n')}
  esac
}
_waf_flag() {
  # Sets takes and values of the flag $2 of the command in $1.
  takes= values=
  case "$1 $2" in
${valueCases(tree).join('\n')}
  esac
}
_waf_walk() {
  # Sets command to the command that the words name, and pending to a flag that waits for its value.
  ${local} word subs flags args takes values
  command= pending=
  for word in "$@"; do
    if [ -n "$pending" ]; then pending=; continue; fi
    case "$word" in
      -*=*) ;;
      -*) _waf_flag "$command" "$word"; if [ -n "$takes" ]; then pending=$word; fi ;;
      *)
        _waf_command "$command"
        case " $subs " in *" $word "*) command="\${command:+$command }$word" ;; esac ;;
    esac
  done
}`;
}

/** A script for bash 4 and newer; 3.2 of macOS too. */
function bashScript(tree: TreeNode): string {
  return `# Completion of waf for bash: source <(waf completion bash)
${posixTables(tree, 'local')}
_waf_offer() {
  # Offers the words of $1 that begin with $2; the mark stands for paths.
  local word
  for word in $1; do
    if [ "$word" = '${pathMark}' ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$2")
    else
      case "$word" in "$2"*) COMPREPLY+=("$word") ;; esac
    fi
  done
}
_waf() {
  local command pending subs flags args takes values
  local cur=\${COMP_WORDS[COMP_CWORD]} before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  COMPREPLY=()
  # bash splits at the equals sign of --flag=value.
  if [ "$cur" = '=' ]; then cur=; before+=('='); fi
  local count=\${#before[@]}
  if [ "$count" -ge 2 ] && [ "\${before[count-1]}" = '=' ]; then
    before=("\${before[@]:0:count-1}")
  fi
  _waf_walk "\${before[@]}"
  if [ -n "$pending" ]; then
    _waf_flag "$command" "$pending"
    _waf_offer "$values" "$cur"
    return
  fi
  _waf_command "$command"
  case "$cur" in
    -*) _waf_offer "$flags" "$cur" ;;
    *) _waf_offer "$subs $args" "$cur" ;;
  esac
}
complete -F _waf waf
`;
}

/** A script for zsh; the summaries stand beside what is offered. */
function zshScript(tree: TreeNode): string {
  const described = [...walkTree(tree)].flatMap((node) => {
    const children = node.children.map(({ path, summary }) => zshItem(path.at(-1) ?? '', summary));
    const flags = node.flags.flatMap(({ names, summary }) =>
      names.map((name) => zshItem(name, summary)),
    );
    const lines = [`      offered_flags=(${flags.join(' ')})`];
    if (children.length > 0) lines.unshift(`      offered_subs=(${children.join(' ')})`);
    return [`    ${quoted(pathOf(node))})`, ...lines, '      ;;'];
  });
  return `#compdef waf
# Completion of waf for zsh: source <(waf completion zsh)
${posixTables(tree, 'local')}
_waf_values() {
  local word
  for word in \${=1}; do
    if [[ $word == '${pathMark}' ]]; then _files; else compadd -- $word; fi
  done
}
_waf() {
  local command pending subs flags args takes values
  local -a offered_subs offered_flags
  _waf_walk "\${(@)words[2,CURRENT-1]}"
  if [[ -z $pending && $PREFIX == --*=* ]]; then
    pending=\${PREFIX%%=*}
    compset -P '*='
  fi
  if [[ -n $pending ]]; then
    _waf_flag "$command" "$pending"
    _waf_values "$values"
    return
  fi
  _waf_command "$command"
  case "$command" in
${described.join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o 'flag' offered_flags
  else
    if (( \${#offered_subs} )); then _describe 'command' offered_subs; fi
    _waf_values "$args"
  fi
}
if [[ $funcstack[1] == _waf ]]; then _waf "$@"; else compdef _waf waf; fi
`;
}

/** `name:summary`; a colon inside has to be escaped. */
function zshItem(name: string, summary: string): string {
  return quoted(`${name.replaceAll(':', '\\:')}:${oneLine(summary)}`);
}

/** A script for fish 3. */
function fishScript(tree: TreeNode): string {
  const lines: string[] = [];
  for (const node of walkTree(tree)) {
    const here = `-n ${quoted(`__waf_at ${quoted(pathOf(node))}`)}`;
    for (const { path, summary } of node.children) {
      lines.push(`complete -c waf ${here} -f -a ${path.at(-1)} -d ${quoted(oneLine(summary))}`);
    }
    for (const words of argumentWords(node))
      lines.push(`complete -c waf ${here} ${fishWords(words)}`);
    for (const flag of node.flags) lines.push(`complete -c waf ${here} ${fishFlag(flag)}`);
  }
  const takers = [...walkTree(tree)].flatMap((node) =>
    node.flags.filter(({ value }) => value !== null).flatMap(({ names }) => names),
  );
  const groups = [...walkTree(tree)].flatMap((node) =>
    node.children.map(({ path }) => quoted(path.join(' '))),
  );
  return `# Completion of waf for fish: waf completion fish > ~/.config/fish/completions/waf.fish
function __waf_path
    set -l takers ${[...new Set(takers)].join(' ')}
    set -l known ${groups.join(' ')}
    set -l path
    set -l skip
    for word in (commandline -opc)[2..-1]
        if test -n "$skip"
            set skip
        else if string match -q -- '-*' $word
            if contains -- $word $takers
                set skip 1
            end
        else if contains -- (string join ' ' $path $word) $known
            set path $path $word
        end
    end
    string join ' ' $path
end
# Asked for every command at every key: the answer is remembered until the line changes.
function __waf_at
    set -l line (string escape -- (commandline -opc))
    if test "$line" != "$__waf_line"
        set -g __waf_line "$line"
        set -g __waf_here (__waf_path | string collect --allow-empty)
    end
    test "$__waf_here" = "$argv[1]"
end
complete -c waf -e
complete -c waf -f
${lines.join('\n')}
`;
}

function fishFlag({ names, summary, value }: TreeFlag): string {
  const spelled = names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  const words = value === null ? [] : ['-r', fishWords(valuesOf(value))];
  return [...spelled, ...words, `-d ${quoted(oneLine(summary))}`].join(' ').replace(/ {2,}/g, ' ');
}

function fishWords(words: string): string {
  if (words === pathMark) return '-F';
  return words === '' ? '-f' : `-f -a ${quoted(words)}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
