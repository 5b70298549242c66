/** What readers of numbers and checks of them share. One thread, no waiting. */

/** How numbers are read now, and whether one lay between two doubles. */
export const numberReading = { above: false, inexact: false };

/**
 * Reads and checks numbers; where one lay between two doubles, first as the lower, then as the
 * upper. Answers what the first reading found, else the second. What `check` throws passes on.
 */
export function checkBothSides<Found>(check: () => Found | null): Found | null {
  numberReading.inexact = false;
  try {
    const found = check();
    if (found !== null || !numberReading.inexact) return found;
    numberReading.above = true;
    return check();
  } finally {
    // Whoever reads or compares next begins afresh, also after an error.
    numberReading.above = false;
    numberReading.inexact = false;
  }
}
