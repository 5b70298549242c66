/** Reads the fields of manifest documents; every error names the document and the field. */

import { AppError } from '../../../base/errors.ts';

/** A mapping of a document. */
export type Spec = Readonly<Record<string, unknown>>;

/** A mapping. Errors: AppError manifest_invalid at `field`, as all here. */
export function object(value: unknown, where: string, field: string): Spec {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Spec;
  }
  throw invalid(where, `${field}: must be a mapping`);
}

/** Text of a field; '' when it is absent. */
export function text(from: Spec, field: string, where: string, prefix: string): string {
  const value = from[field] ?? '';
  if (typeof value !== 'string') throw invalid(where, `${prefix}${field}: must be text`);
  return value;
}

/** Items of a field; none when it is absent. */
export function list(from: Spec, field: string, where: string, prefix: string): readonly unknown[] {
  const value = from[field] ?? [];
  if (!Array.isArray(value)) throw invalid(where, `${prefix}${field}: must be a list`);
  return value;
}

/** One of the allowed words; the first when the field is absent. */
export function choice(
  from: Spec,
  field: string,
  allowed: readonly string[],
  where: string,
  prefix: string,
): string {
  const value = from[field] ?? allowed[0] ?? '';
  // YAML 1.1 habits: on and off may arrive as booleans.
  const spelt = value === true ? 'on' : value === false ? 'off' : value;
  if (typeof spelt === 'string' && allowed.includes(spelt)) return spelt;
  const named = allowed.filter((one) => one !== '').join(', ');
  throw invalid(where, `${prefix}${field}: must be one of ${named}`);
}

/** Refuses fields that nobody reads. */
export function known(from: Spec, fields: readonly string[], where: string, prefix: string): void {
  for (const field of Object.keys(from)) {
    if (fields.includes(field)) continue;
    throw invalid(where, `Unknown field "${prefix}${field}". Allowed: ${fields.join(', ')}.`);
  }
}

/** Runs a check whose errors name fields, and adds which document it was. */
export function rethrown<T>(where: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw invalid(where, error.message);
  }
}

/** The error of a document. */
export function invalid(where: string, problem: string): AppError {
  return new AppError('manifest_invalid', `${where}: ${problem}`, { source: 'config' });
}
