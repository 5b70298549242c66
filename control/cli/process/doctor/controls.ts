/** The check for controls that are stored but not enforced. */

import { ok, warning, type Check } from './finding.ts';

const name = 'controls';
const action = 'do not rely on it until a release enforces it; its settings are kept';

/** What somebody set and nothing carries out. */
export const controlsCheck: Check = {
  name,
  look: async ({ running, context }) => {
    if (!running) return [];
    const { warnings } = await (await context.api()).system.health({});
    if (warnings.length === 0) return [ok(name, 'all that is stored is enforced')];
    return warnings.map((text) => warning(name, text, action));
  },
};
