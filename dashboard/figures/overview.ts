/** The first page: is there traffic? */

import { DAY_MS, SECOND_MS } from '../../domain/durations.ts'
import { answer } from '../http/call.ts'
import type { ReadScope } from '../reads/scope.ts'
import { readExampleUntil } from './example.ts'

export function readOverview(scope: ReadScope) {
  return scope(async (reads, call) => {
    // Whole seconds, so that all who ask within one ask for the same.
    const until = (Math.floor(call.nowMs / SECOND_MS) + 1) * SECOND_MS
    const since = until - DAY_MS
    const hours = await reads.run('visitsByHour', { since_ms: since, until_ms: until })
    return answer({
      since,
      until,
      timeZone: reads.organization.timeZone,
      websites: reads.websites.map(({ id, displayName }) => ({ id, displayName })),
      exampleUntil: await readExampleUntil(reads, since, call.nowMs),
      hours: hours.map(({ hour_ms: at, visits }) => ({ at, visits })),
    })
  })
}
