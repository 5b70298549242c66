/** The account of what is built: proto/STATUS.md is its text. */

import type { ApiParts } from './context.ts';
import { services } from './services.ts';

/** RPCs of the contract, and those that answer unimplemented. */
export interface ContractStatus {
  readonly total: number;
  readonly missing: readonly { readonly service: string; readonly rpc: string }[];
}

/** Compares the contract with what is built. */
export function contractStatus(): ContractStatus {
  // The method tables are made and never called.
  const parts = {} as ApiParts;
  const missing: { service: string; rpc: string }[] = [];
  let total = 0;
  for (const { service, build } of services) {
    const built = build(parts);
    for (const method of service.methods) {
      total++;
      if (built[method.localName] !== undefined) continue;
      missing.push({ service: service.name, rpc: method.name });
    }
  }
  return { total, missing };
}

/** The text of proto/STATUS.md. */
export function renderStatus({ total, missing }: ContractStatus): string {
  const rows = missing.map(({ service, rpc }) => `| ${service} | ${rpc} |\n`).join('');
  const table = `| Service | Rpc |\n| --- | --- |\n${rows}`;
  const others = ` The others answer \`unimplemented\`:\n\n${table}`;
  return `# What is built

${total - missing.length} of ${total} RPCs are built.${rows === '' ? '\n' : others}
This file is made by \`WAF_WRITE_STATUS=1 npx vitest run control/api/contract.test.ts\`.
`;
}
