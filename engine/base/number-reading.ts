/** What readers of numbers and checks of them share. One thread, no waiting. */

/** How numbers are read now, and whether one lay between two doubles. */
export const numberReading = { above: false, inexact: false };
