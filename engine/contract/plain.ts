/** Messages of the bundle as plain data, which threads can clone. */

/** The fields of a message, to be read only. */
export type Plain<M extends { readonly $typeName: string }> = {
  readonly [K in keyof M as Exclude<K, '$typeName' | '$unknown'>]: M[K] extends (infer One)[]
    ? readonly One[]
    : M[K];
};

/** A message in its JSON form with every field, to be read only. */
export type Whole<T> = T extends readonly (infer One)[]
  ? readonly Whole<One>[]
  : T extends object
    ? { readonly [K in keyof T]-?: Whole<NonNullable<T[K]>> }
    : T;

/** A message without what only messages have. */
export function plain<M extends { readonly $typeName: string }>(message: M): Plain<M> {
  const { $typeName: _type, $unknown: _unknown, ...fields } = { $unknown: undefined, ...message };
  return fields as unknown as Plain<M>;
}
