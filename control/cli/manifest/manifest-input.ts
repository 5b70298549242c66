/** Reads the manifests that a command line names, and shows what they change. */

import type { ApplyPlan } from '../../../proto/gen/waf/v1/system_pb.ts';
import { AppError } from '../../../base/errors.ts';
import { listFlag, type CommandContext, type FlagDefinition, type FlagValues } from '../command.ts';
import { readYaml } from '../../documents/yaml-text.ts';
import { readInputText } from '../input.ts';

/** The flag that names manifests. */
export const manifestFlag: FlagDefinition = {
  flags: '-f, --file <manifest>',
  summary: 'YAML documents; - for standard input; repeatable, all in one transaction',
  repeatable: true,
};

/** The documents of all named files as one manifest. Errors: AppError bad_flag. */
export function readManifests(flags: FlagValues): Uint8Array<ArrayBuffer> {
  const paths = listFlag(flags, 'file');
  if (paths.length === 0) {
    throw new AppError('bad_flag', '-f is missing: name a manifest, or - for standard input', {
      source: 'config',
    });
  }
  const texts = paths.map((path) => checkedText(path));
  return new TextEncoder().encode(texts.join('\n---\n'));
}

/** The text of a manifest that is YAML; mistakes are named in the file where they stand. */
function checkedText(path: string): string {
  const text = readInputText(path);
  readYaml(text, path === '-' ? 'standard input' : path);
  return text;
}

/** Shows a plan, carried out or not; returns how many documents change something. */
export async function showPlan(
  { output }: CommandContext,
  plan: ApplyPlan | undefined,
  carriedOut: boolean,
): Promise<number> {
  const { create, toJson } = await import('@bufbuild/protobuf');
  const { ApplyPlanSchema } = await import('../../../proto/gen/waf/v1/system_pb.ts');
  const shown = plan ?? create(ApplyPlanSchema);
  for (const warning of shown.warnings) output.note(`warning: ${warning}`);
  const changed = shown.changes.filter(({ action }) => action !== 'unchanged');
  output.result(toJson(ApplyPlanSchema, shown), {
    columns: ['KIND', 'NAME', 'ACTION', 'FIELDS'],
    rows: changed.map(({ kind, name, action, diff }) => [
      kind,
      name,
      action,
      (diff?.changedPaths ?? []).join(' '),
    ]),
  });
  const count = (action: string): number =>
    shown.changes.filter((change) => change.action === action).length;
  const [created, updated] = carriedOut ? ['created', 'updated'] : ['to create', 'to update'];
  output.note(
    `${count('create')} ${created}, ${count('update')} ${updated}, ${count('unchanged')} unchanged`,
  );
  if (!carriedOut && changed.length > 0) output.note(`plan ${shown.id}`);
  return changed.length;
}
