/** Holds the compose file against what the image says of itself. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readYaml } from '../../documents/yaml-text.ts';
import { dataFolder } from './image-files.ts';

interface Service {
  readonly read_only?: boolean;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly cap_drop?: readonly string[];
}

const path = join(import.meta.dirname, '../../../deploy/compose.yaml');
const [document] = readYaml(readFileSync(path, 'utf8'), path);
const { services } = document!.value as { readonly services: Readonly<Record<string, Service>> };

test('the compose file publishes ports of the image, the API for this machine only', () => {
  const ports = services['waf']!.ports!;
  expect(ports.map((one) => one.split(':').at(-1))).toEqual(['8080', '8443', '9080']);
  expect(ports.filter((one) => one.endsWith(':9080'))).toEqual(['127.0.0.1:9080:9080']);
  expect(services['app']!.ports).toBeUndefined();
});

test('the compose file runs with a read-only root and one volume for the data', () => {
  const { read_only: readOnly, volumes, cap_drop: dropped } = services['waf']!;
  expect([readOnly, volumes, dropped]).toEqual([true, [`waf-data:${dataFolder}`], ['ALL']]);
});
