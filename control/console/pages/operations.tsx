/**
 * Every operation of the API in one place, for what no other page has a form for: the request as
 * JSON from the fields of the contract, the answer as text.
 */

import type { DescMessage, DescMethod, DescService } from '@bufbuild/protobuf';
import { fromJsonString, ScalarType, toJsonString, type JsonValue } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { address, go, withQuery } from '../address.ts';
import { never, useCall } from '../call.ts';
import { Edit } from '../parts/edit.tsx';
import { Card, Head } from '../parts/panel.tsx';
import { lacking } from '../parts/rights.tsx';
import { State } from '../parts/state.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';
import { operationRights } from './operation-rights.ts';
import { serviceNames, loadService } from './operation-services.ts';

/** Numbers that JSON keeps as text. */
const longKinds: readonly ScalarType[] = [
  ...[ScalarType.INT64, ScalarType.UINT64, ScalarType.SINT64],
  ...[ScalarType.FIXED64, ScalarType.SFIXED64],
];
/** Messages of a stream that are shown; the newest stay. */
const messagesShown = 100;

const w = pageTexts({
  title: ['All operations', '全部操作'],
  note: [
    'Every call of the management API. A call does at once what its name says.',
    '管理 API 的全部调用。调用会立即执行其名称所述的操作。',
  ],
  service: ['Service', '服务'],
  method: ['Operation', '操作'],
  request: ['Request, as JSON', '请求（JSON）'],
  call: ['Call', '调用'],
  answer: ['Answer', '响应'],
  cut: ['Only the newest {count} messages are shown.', '仅显示最新的 {count} 条消息。'],
});

/** The page. */
export function Operations(): JSX.Element {
  const { query } = address.value;
  const wanted = query.get('service') ?? '';
  const name = serviceNames.find((one) => one === wanted) ?? serviceNames[0]!;
  const found = useCall(name, () => loadService(name), never);
  return (
    <>
      <Head title={w('title')} note={w('note')} />
      <div class="filters">
        <label>
          {w('service')}
          <select
            value={name}
            onChange={({ currentTarget }) =>
              go(withQuery({ service: currentTarget.value, method: '' }), true)
            }
          >
            {serviceNames.map((one) => (
              <option value={one}>{one}</option>
            ))}
          </select>
        </label>
        {found.value !== null && <MethodChoice service={found.value} />}
      </div>
      <State of={found}>
        {(service) => (
          <Operation key={`${service.name} ${query.get('method')}`} service={service} />
        )}
      </State>
    </>
  );
}

const chosenOf = (service: DescService): DescMethod =>
  service.methods.find(({ name }) => name === address.value.query.get('method')) ??
  service.methods[0]!;

function MethodChoice({ service }: { readonly service: DescService }): JSX.Element {
  return (
    <label>
      {w('method')}
      <select
        value={chosenOf(service).name}
        onChange={({ currentTarget }) => go(withQuery({ method: currentTarget.value }), true)}
      >
        {service.methods.map(({ name }) => (
          <option value={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function Operation({ service }: { readonly service: DescService }): JSX.Element {
  const method = chosenOf(service);
  const [answer, setAnswer] = useState('');
  const [cut, setCut] = useState(false);
  const call = async ({ request = '' }: Readonly<Record<string, string>>): Promise<void> => {
    const input = fromJsonString(method.input, request === '' ? '{}' : request);
    const client = createClient(service, transport) as unknown as Client;
    const shown: string[] = [];
    for await (const output of outputsOf(client[method.localName]!(input), method.methodKind)) {
      shown.push(toJsonString(method.output, output as never, { prettySpaces: 2 }));
      setAnswer(shown.slice(-messagesShown).join('\n'));
      setCut(shown.length > messagesShown);
    }
  };
  return (
    <>
      <Card title={method.name}>
        <Edit
          label={method.name}
          codes={codesOf(method)}
          submit={w('call')}
          done=""
          keep
          save={call}
          fields={[
            {
              name: 'request',
              label: w('request'),
              kind: 'area',
              value: JSON.stringify(sketchMessage(method.input, 2), null, 2),
            },
          ]}
        />
      </Card>
      {answer !== '' && (
        <Card title={w('answer')} {...(cut ? { note: w('cut', { count: messagesShown }) } : {})}>
          <pre class="code">
            <VisibleText text={answer} lines />
          </pre>
        </Card>
      )}
    </>
  );
}

/** What a person needs for a call; of codes of which one is enough, one that the person has. */
function codesOf({ parent, name }: DescMethod): readonly string[] {
  const { any = [], all = [] } = operationRights[`${parent.typeName}/${name}`] ?? {};
  const held = any.filter((code) => lacking([code]) === '');
  return [...all, ...(held.length > 0 ? held : any)];
}

type Output = Promise<unknown> | AsyncIterable<unknown>;
type Client = Readonly<Record<string, (input: unknown) => Output>>;

/** One answer, or those of a stream. */
async function* outputsOf(output: Output, kind: string): AsyncIterable<unknown> {
  if (kind === 'unary') yield await (output as Promise<unknown>);
  else yield* output as AsyncIterable<unknown>;
}

/** The fields of a message with empty values, `depth` levels deep. */
function sketchMessage(message: DescMessage, depth: number): JsonValue {
  if (message.typeName.startsWith('google.protobuf.') || depth === 0) return null;
  const fields = message.fields.map((field) => {
    const { fieldKind, jsonName } = field;
    if (fieldKind === 'list') return [jsonName, []] as const;
    if (fieldKind === 'map') return [jsonName, {}] as const;
    if (fieldKind === 'message')
      return [jsonName, sketchMessage(field.message, depth - 1)] as const;
    if (fieldKind === 'enum') return [jsonName, field.enum.values[0]!.name] as const;
    return [jsonName, emptyOf(field.scalar)] as const;
  });
  return Object.fromEntries(fields);
}

/** The value of a field that is not set, as JSON. */
function emptyOf(kind: ScalarType): JsonValue {
  if (kind === ScalarType.BOOL) return false;
  if (kind === ScalarType.STRING || kind === ScalarType.BYTES) return '';
  return longKinds.includes(kind) ? '0' : 0;
}
