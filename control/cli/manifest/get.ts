/** `waf get`: resources of one kind, as `waf export` writes them. */

import { manifestKinds, type ManifestKind } from '../../publish/manifests/manifest-documents.ts';
import type { CommandDefinition } from '../command.ts';
import { badFlag } from '../input.ts';

/** A kind as people write it: IpList is ip-list. */
const wordOf = (kind: ManifestKind): string =>
  kind.replace(/\B[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
const kinds = new Map(manifestKinds.map((kind) => [wordOf(kind), kind]));
/** Other spellings: IpList, ip-lists. */
const aliases: Readonly<Record<string, string>> = Object.fromEntries(
  manifestKinds.flatMap((kind) => {
    const word = wordOf(kind);
    return [kind, pluralOf(word)].flatMap((other) => (other === word ? [] : [[other, word]]));
  }),
);

function pluralOf(word: string): string {
  if (word.endsWith('s')) return word;
  return word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`;
}

/** The command. */
export const getCommand: CommandDefinition = {
  path: ['get'],
  summary: 'Show resources of one kind, as documents that apply reads',
  help: `All of a kind, or the one of a name or id; --output json for programs.
Example: waf get site shop > shop.yaml`,
  arguments: [
    {
      name: '<kind>',
      summary: 'which resources',
      choices: [...kinds.keys()],
      aliases,
    },
    { name: '[name]', summary: 'name or id of one of them' },
  ],
  showsWarnings: true,
  run: async (context, [asked = '', name]) => {
    const word = aliases[asked] ?? asked;
    const { exportDocuments, toManifestText } =
      await import('../../publish/manifests/manifest-export.ts');
    const { readExportedState } = await import('./export-state.ts');
    const { state, leftOut } = await readExportedState(await context.api());
    const kind = kinds.get(word);
    const all = exportDocuments(state).filter((one) => one.kind === kind);
    const found = all.filter(
      ({ metadata }) => name === undefined || metadata.name === name || metadata.id === name,
    );
    if (name !== undefined && found.length === 0) {
      const names = all.map(({ metadata }) => metadata.name).join(', ') || 'none';
      throw badFlag(`no ${word} has this name or id; there is: ${names}`);
    }
    for (const one of leftOut) context.output.note(`not shown: ${one}`);
    if (context.output.format === 'json') {
      context.output.result(found, { columns: [], rows: [] });
    } else if (found.length > 0) context.output.line(toManifestText(found).trimEnd());
    return 0;
  },
};
