/**
 * The manual pages: one for `waf`, and one for each first word of a command with all commands that
 * begin so. Made from the parser's commands, as help and completion are. Source: man(7).
 */

import { walkTree, type TreeNode } from './command-tree.ts';

/** The pages by their file name, `waf.1` first. */
export function manPages(tree: TreeNode, version: string): ReadonlyMap<string, string> {
  const pages = new Map([['waf.1', mainPage(tree, version)]]);
  for (const child of tree.children) pages.set(`${nameOf(child)}.1`, subjectPage(child, version));
  return pages;
}

function mainPage(tree: TreeNode, version: string): string {
  const commands = tree.children.flatMap((child) => [
    '.TP',
    `.BR ${nameOf(child)} (1)`,
    roff(child.summary),
  ]);
  return page('waf', version, tree.summary, [
    ...section('SYNOPSIS', ['.B waf', 'COMMAND [ARGUMENTS] [OPTIONS]']),
    ...section('COMMANDS', commands),
    ...section('OPTIONS', flagLines(tree)),
    ...section('FILES', [
      ...['.TP', '.I /etc/waf/waf.yaml', 'Settings of an installed program.'],
      ...['.TP', '.I /var/lib/waf', 'Its data.'],
    ]),
  ]);
}

function subjectPage(node: TreeNode, version: string): string {
  const nodes = [...walkTree(node)].filter(({ children }) => children.length === 0);
  const synopsis = nodes.flatMap(({ path, usage }) => [
    ...['.TP', `.B waf ${roff(path.join(' '))}`, roff(usage)],
  ]);
  const texts = nodes.flatMap((one) => [
    `.SS waf ${roff(one.path.join(' '))}`,
    ...one.description.split('\n').map(roff),
    ...flagLines(one),
  ]);
  return page(nameOf(node), version, node.summary, [
    ...section('SYNOPSIS', synopsis),
    ...section('DESCRIPTION', texts),
    ...section('SEE ALSO', ['.BR waf (1)']),
  ]);
}

const nameOf = ({ path }: TreeNode): string => ['waf', ...path].join('-');

function page(name: string, version: string, summary: string, body: readonly string[]): string {
  const heading = `.TH ${name.toUpperCase()} 1 "" "waf ${version}" "waf"`;
  const title = section('NAME', [`${roff(name)} \\- ${roff(summary)}`]);
  return [heading, ...title, ...body, ''].join('\n');
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`.SH ${title}`, ...lines];
}

function flagLines({ flags }: TreeNode): string[] {
  return flags.flatMap(({ spelled, summary }) => ['.TP', `.B ${roff(spelled)}`, roff(summary)]);
}

/** A line of text: no character of it is a request, an escape or a hyphen that breaks lines. */
function roff(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line === '') return '.PP';
  const escaped = line.replaceAll('\\', '\\e').replaceAll('-', '\\-');
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
