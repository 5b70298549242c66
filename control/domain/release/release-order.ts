/** The order of versions of the program: Semantic Versioning 2.0, section 11. Pure. */

interface Version {
  readonly numbers: readonly number[];
  /** Empty for a release that is no prerelease. */
  readonly marks: readonly string[];
}

/** Negative when `left` comes before `right`, 0 for equal precedence. Build metadata is ignored. */
export function compareVersions(left: string, right: string): number {
  const [one, two] = [parse(left), parse(right)];
  for (let at = 0; at < 3; at++) {
    const difference = (one.numbers[at] ?? 0) - (two.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  // A prerelease comes before its release.
  if (one.marks.length === 0 || two.marks.length === 0) return two.marks.length - one.marks.length;
  return compareMarks(one.marks, two.marks);
}

function compareMarks(left: readonly string[], right: readonly string[]): number {
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const difference = compareMark(left[at] ?? '', right[at] ?? '');
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Numbers come before words. */
function compareMark(left: string, right: string): number {
  const [leftIsNumber, rightIsNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)];
  if (leftIsNumber && rightIsNumber) return Number(BigInt(left) - BigInt(right));
  if (leftIsNumber !== rightIsNumber) return leftIsNumber ? -1 : 1;
  return left === right ? 0 : left < right ? -1 : 1;
}

function parse(text: string): Version {
  const [core = ''] = text.split('+', 1);
  const dash = core.indexOf('-');
  const numbers = (dash < 0 ? core : core.slice(0, dash)).split('.').map(Number);
  return { numbers, marks: dash < 0 ? [] : core.slice(dash + 1).split('.') };
}
