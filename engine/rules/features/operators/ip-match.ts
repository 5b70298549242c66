/** The operators `ipMatch` and `ipMatchFromFile`: IPv4 and IPv6 addresses and networks. */

import type { ByteString } from '../../../../base/byte-string.ts';
import type { BindFailure, BoundOperator, OperatorDefinition } from '../../transaction/types.ts';
import { matchesNetwork, parseAddress, parseNetwork, type Network } from './ip-address.ts';
import { trimBlanks } from './operator-common.ts';
import { parseLines } from './pm.ts';

/** Matches when the value is an address of one of the networks. */
export const ipMatch: OperatorDefinition = {
  name: 'ipMatch',
  summary: 'Matches when the value is an address inside one of the networks.',
  example: 'SecRule REMOTE_ADDR "@ipMatch 192.168.0.0/16,2001:db8::/32" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, ipMatch',
  argument: 'required',
  bind: (argument) => bindNetworks(ipMatch, argument, argument.split(',')),
};

/** As ipMatch, with one network a line of a file. */
export const ipMatchFromFile: OperatorDefinition = {
  name: 'ipMatchFromFile',
  aliases: ['ipMatchF'],
  summary: 'As ipMatch, with one network a line of a data file; # begins a comment.',
  example: 'SecRule REMOTE_ADDR "@ipMatchFromFile blocked.data" "id:1"',
  source: 'ModSecurity Reference Manual, Operators, ipMatchFromFile',
  argument: 'required',
  bind: (argument, context) => {
    const text = context.readDataFile(trimBlanks(argument), context.file);
    if (text === null) return { failure: 'the data file does not exist or is not readable' };
    const lines = parseLines(text).map((line) => line.replace(/#.*$/, ''));
    return bindNetworks(ipMatchFromFile, argument, lines);
  },
};

function bindNetworks(
  definition: OperatorDefinition,
  argument: ByteString,
  items: readonly ByteString[],
): BoundOperator | BindFailure {
  const networks: Network[] = [];
  for (const item of items) {
    if (item.trim() === '') continue;
    const network = parseNetwork(item.trim());
    if (!network) return { failure: 'expected IP addresses or networks' };
    networks.push(network);
  }
  return {
    definition,
    argument,
    evaluate: (value) => {
      const address = parseAddress(value);
      return address !== null && networks.some((network) => matchesNetwork(address, network));
    },
  };
}
