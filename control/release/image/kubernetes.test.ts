/** Holds the Kubernetes files against what the image and the program have. */

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readYaml } from '../../documents/yaml-text.ts';
import { dataFolder, imageUser, programFolder } from './image-files.ts';
import { healthScript } from './oci-image.ts';

const folder = join(import.meta.dirname, '../../../deploy/kubernetes');
const files = readdirSync(folder).sort();
const documentsOf = (name: string): unknown[] =>
  readYaml(readFileSync(join(folder, name), 'utf8'), name).map(({ value }) => value);

test('the base lists every file of its folder', () => {
  const [base] = documentsOf('kustomization.yaml') as { readonly resources: string[] }[];
  expect([...base!.resources, 'kustomization.yaml'].sort()).toEqual(files);
});

test('the pod runs as the image does: user, ports, volume, probes, read-only root', () => {
  expect(documentsOf('deployment.yaml')).toMatchObject([
    {
      spec: {
        replicas: 1,
        template: {
          spec: {
            securityContext: { runAsNonRoot: true, runAsUser: imageUser, fsGroup: imageUser },
            containers: [
              {
                ports: [
                  { name: 'http', containerPort: 8080 },
                  { name: 'https', containerPort: 8443 },
                  { name: 'management', containerPort: 9080 },
                ],
                securityContext: { readOnlyRootFilesystem: true },
                livenessProbe: { httpGet: { path: '/healthz', scheme: 'HTTPS' } },
                readinessProbe: {
                  exec: { command: [`${programFolder}/node`, '-e', healthScript] },
                },
                volumeMounts: [{ mountPath: dataFolder }, { mountPath: '/tmp' }],
              },
            ],
          },
        },
      },
    },
  ]);
});

test('services and the network policy name ports of the pod', () => {
  const named = ['service.yaml', 'network-policy.yaml'].flatMap((name) =>
    [...JSON.stringify(documentsOf(name)).matchAll(/"(?:targetPort|port)":"(\w+)"/g)].map(
      ([, port]) => port,
    ),
  );
  expect(named).toEqual(['http', 'https', 'management', 'http', 'https', 'management']);
});
