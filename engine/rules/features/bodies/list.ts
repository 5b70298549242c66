/** The list of body processors; a new one is a file and a line here. */

import type { BodyProcessorDefinition } from '../../transaction/types.ts';
import { grpcBody } from './grpc.ts';
import { jsonBody } from './json.ts';
import { multipartBody } from './multipart.ts';
import { urlencodedBody } from './urlencoded.ts';
import { xmlBody } from './xml.ts';

/** All body processors; names are upper case as `ctl:requestBodyProcessor` gives them. */
export const bodyProcessors: readonly BodyProcessorDefinition[] = [
  urlencodedBody,
  multipartBody,
  jsonBody,
  xmlBody,
  grpcBody,
];

/** The processor of that upper-case name. */
export function findBodyProcessor(name: string): BodyProcessorDefinition | undefined {
  return bodyProcessors.find((processor) => processor.name === name);
}
