/** The formats as the compiler takes them: those that engines check, and nothing else. */

import type { Format } from 'ajv';
import { textFormats } from '../../base/text-formats.ts';

/** Formats by name. */
export const compilerFormats: Record<string, Format> = { ...textFormats } as Record<string, Format>;
