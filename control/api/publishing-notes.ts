/**
 * Says in answers to changes whether the built-in node serves them: such an answer waits, bounded,
 * for the node's receipt, and has `publishing` set where there is none by then. Never makes a
 * change fail.
 */

import type { DescMessage, DescMethod, Message } from '@bufbuild/protobuf';
import type { Interceptor } from '@connectrpc/connect';
import type { Uses } from './context.ts';
import { awaitDeployment } from './deployment.ts';

/** Field of answers, and of results in them, that says it. */
const fieldName = 'publishing';
const headerName = 'waf-publishing';
/** Says why. */
const reasonName = 'waf-publishing-reason';
const reasonCharactersMax = 300;

/** The place of the field in an answer: its own, or that of its `result`; null for none. */
type Place = 'answer' | 'result' | null;

const places = new WeakMap<DescMessage, Place>();

/** Waits for the receipt of a change. Cost: nothing for calls that changed nothing that serves. */
export function publishingInterceptor(parts: Uses<'publisher' | 'nodes'>): Interceptor {
  return (next) => async (request) => {
    const place = request.stream ? null : placeOf(request.method.output);
    if (place === null) return next(request);
    const before = parts.publisher.changes();
    const response = await next(request);
    if (response.stream) return response;
    const { message } = response;
    // A retry of a keyed call changes nothing itself; its change may not serve yet.
    const retried = Boolean(fieldOf(request.message as Message, 'idempotencyKey'));
    if (parts.publisher.changes() === before && !retried) return response;
    const siteId = siteOf(request.message as Message, message);
    const { state, error } = await awaitDeployment(parts, siteId === '' ? [] : [siteId]);
    if (state === 'applied') return response;
    mark(place, message);
    response.header.set(headerName, 'true');
    response.header.set(reasonName, fieldText(error));
    return response;
  };
}

/** Whether answers of a method say whether their change serves. */
export function saysPublishing({ output }: DescMethod): boolean {
  return placeOf(output) !== null;
}

function placeOf(output: DescMessage): Place {
  const known = places.get(output);
  if (known !== undefined) return known;
  const own = output.fields.some(({ localName }) => localName === fieldName);
  const result = output.fields.find(({ localName }) => localName === 'result')?.message;
  const inResult = result?.fields.some(({ localName }) => localName === fieldName) ?? false;
  const place = own ? 'answer' : inResult ? 'result' : null;
  places.set(output, place);
  return place;
}

/** Text that a header field can carry. */
function fieldText(text: string): string {
  return text.slice(0, reasonCharactersMax).replace(/[^ -~]+/g, ' ');
}

function mark(place: Place, message: Message): void {
  const target = place === 'result' ? fieldOf(message, 'result') : message;
  if (target !== undefined) (target as Record<string, unknown>)[fieldName] = true;
}

/** The one site that a call is about; '' where it may concern others. */
function siteOf(request: Message, answer: Message): string {
  const named = fieldOf(request, 'siteId');
  if (typeof named === 'string' && named !== '') return named;
  const site = fieldOf(answer, 'site') as { readonly id?: string } | undefined;
  return site?.id ?? '';
}

function fieldOf(message: Message, name: string): unknown {
  return (message as unknown as Record<string, unknown>)[name];
}
