/** What a call failed with, in words: a path of a field is no name that people know. */

import { Code, ConnectError } from '@connectrpc/connect';
import { messageOf } from '../call.ts';
import { said } from '../text/sentences.ts';
import { fieldWords, partsOfRefusal } from './refused-field.ts';

/** The message of anything that a call throws, in the language that is shown. */
export function refusalText(thrown: unknown): string {
  const message = messageOf(thrown);
  const whole = said(message);
  // Other messages may begin with the name of a host.
  if (whole !== message || ConnectError.from(thrown).code !== Code.InvalidArgument) return whole;
  const { path, problem } = partsOfRefusal(message);
  return path === '' ? message : `${fieldWords(path)}: ${said(problem)}`;
}
