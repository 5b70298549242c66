/** Tests that the documents of a regression run are accepted and say what CRS's tests assume. */

import { existsSync } from 'node:fs';
import { fromBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import {
  RuntimeBundleSchema,
  SignedRuntimeBundleSchema,
} from '../../../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { buildBundleFromManifest } from '../../../publish/manifests/manifest.ts';
import { testManifest } from './manifest.ts';

const installed = existsSync('/usr/share/modsecurity-crs/rules');

test.skipIf(!installed)('the built-in rule set under the settings of its tests', () => {
  const manifest = testManifest({
    rulesetFolder: null,
    originUrl: 'http://127.0.0.1:1',
    paranoia: 4,
    blocking: false,
  });
  const { bytes, warnings } = buildBundleFromManifest(manifest, '.');
  expect(warnings).toEqual([]);
  const { bundle } = fromBinary(SignedRuntimeBundleSchema, bytes);
  const seclang = fromBinary(RuntimeBundleSchema, bundle).policies[0]?.seclang ?? '';
  for (const text of [
    'SecRuleEngine DetectionOnly',
    'SecResponseBodyMimeType text/plain text/html text/xml application/json',
    'tx.arg_length=400',
    'tx.arg_name_length=100',
    'tx.max_num_args=255',
    'setvar:tx.max_file_size=64100',
    'tx.crs_validate_utf8_encoding=1',
    'id:200002',
  ]) {
    expect(seclang).toContain(text);
  }
});
