/** Reads the fields of a form. */

/** The text of a field without blanks around it; '' for one that is not there. */
export function textField(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === 'string' ? value.trim() : '';
}
