/** The types by which method files and service files fit together. */

import type { DescService } from '@bufbuild/protobuf';
import type { ServiceImpl } from '@connectrpc/connect';

/** One method of a service. */
export type Method<S extends DescService, Name extends keyof ServiceImpl<S>> = ServiceImpl<S>[Name];

/** The methods of a service that are built; the others answer unimplemented. */
export type Built<S extends DescService> = Partial<ServiceImpl<S>>;
