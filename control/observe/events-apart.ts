/** Tells operators where what nodes observed cannot be seen from every controller. */

import { clickhouseVariable } from './clickhouse/clickhouse-option.ts';

/** What several controllers of one store do not share; none for a controller with its own store. */
export function eventsApart(isShared: boolean, hasClickhouse: boolean): readonly string[] {
  if (!isShared) return [];
  const [kept, advice] = hasClickhouse
    ? ['evidence and traffic counts', '']
    : [
        'events, evidence and traffic counts',
        `; set ${clickhouseVariable} at every controller to have events in one place`,
      ];
  return [`${kept} stay with the controller that their node is connected to${advice}`];
}
