/** The first page: is there traffic? */

import { DAY_MS } from '../../domain/durations.ts'
import { answer } from '../http/call.ts'
import type { ReadScope } from '../reads/scope.ts'

export function readOverview(scope: ReadScope) {
  return scope(async (reads, call) => {
    const since = call.nowMs - DAY_MS
    const hours = await reads.run('visitsByHour', { since_ms: since, until_ms: call.nowMs + 1 })
    return answer({
      since,
      websites: reads.websites.map(({ id, displayName }) => ({ id, displayName })),
      hours: hours.map(({ hour_ms: at, visits }) => ({ at, visits })),
    })
  })
}
