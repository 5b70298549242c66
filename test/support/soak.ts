/**
 * How often tests draw at random: a few times in every run, many times in a soak
 * (`npm run test:soak`, which sets WAF_SOAK=1).
 */

/** Whether this run is a soak. */
export const soaks = process.env['WAF_SOAK'] === '1';

/** What the variable `name` says where it is set, else `usual`, or `soaking` in a soak. */
export function draws(usual: number, soaking: number, name: string): number {
  const own = process.env[name];
  if (own !== undefined) return Number(own);
  return soaks ? soaking : usual;
}
