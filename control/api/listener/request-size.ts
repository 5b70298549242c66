/**
 * How large a request may be: in bytes by what its message can carry, and how many values and
 * levels its JSON has, counted before it is parsed. Never looks at what the values are.
 */

import type { DescField, DescMessage, DescMethod } from '@bufbuild/protobuf';
import { getOption, hasOption, ScalarType } from '@bufbuild/protobuf';
import { callLimits } from '../../limits/call-limits.ts';
import { field as fieldRules } from '../../../proto/gen/buf/validate/validate_pb.ts';
import { refusal } from '../../domain/errors.ts';

const knownBytes = new WeakMap<DescMethod, number>();

/** Bytes of one request message: more where it carries files or long lists. */
export function requestBytesMaxOf(method: DescMethod): number {
  const { requestBytesMax, smallRequestBytesMax } = callLimits;
  const known =
    knownBytes.get(method) ?? (isLarge(method.input) ? requestBytesMax : smallRequestBytesMax);
  knownBytes.set(method, known);
  return known;
}

function isLarge(message: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some((field) => {
    if (field.scalar === ScalarType.BYTES) return true;
    if (field.fieldKind === 'list' && itemsMaxOf(field) > callLimits.listItemsMax) return true;
    return field.message !== undefined && isLarge(field.message, seen);
  });
}

const knownItems = new WeakMap<DescField, number>();

/** Items that a list may have: what its rule says, else the general bound. */
export function itemsMaxOf(field: DescField): number {
  const known = knownItems.get(field) ?? readItemsMax(field);
  knownItems.set(field, known);
  return known;
}

function readItemsMax(field: DescField): number {
  if (hasOption(field, fieldRules)) {
    const { type } = getOption(field, fieldRules);
    if (type.case === 'repeated' && type.value.maxItems > 0n) return Number(type.value.maxItems);
  }
  return callLimits.listItemsMax;
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Refuses JSON that would cost much to parse for what it says. Errors: invalid_argument when it is
 * nested too deeply, resource_exhausted when it holds too many values. Cost: one pass over bytes.
 */
export function refuseShape(json: Uint8Array): void {
  const { jsonDepthMax, jsonValuesMax } = callLimits;
  let values = 0;
  let depth = 0;
  let inText = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (inText) {
      if (byte === backslash) at++;
      else if (byte === quote) inText = false;
      continue;
    }
    if (byte === quote) inText = true;
    else if (byte === comma || byte === colon) values++;
    else if (byte === openList || byte === openObject) {
      values++;
      if (++depth > jsonDepthMax * 2) {
        throw refusal('invalid_argument', 'request: is nested too deeply');
      }
    } else if (byte === closeList || byte === closeObject) depth--;
    if (values > jsonValuesMax) {
      throw refusal('resource_exhausted', `request: holds more than ${jsonValuesMax} values`);
    }
  }
}
