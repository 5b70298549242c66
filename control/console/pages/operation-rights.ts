/** What a person needs for each operation. The build of the console fills it from the contract. */

/** Codes by `package.Service/Method`: one of `any`, and each of `all`. */
export const operationRights: Readonly<Record<string, Readonly<Rights>>> = {};

/** Codes of one operation. */
export interface Rights {
  readonly any: readonly string[];
  readonly all: readonly string[];
}
