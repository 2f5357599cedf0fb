/** Finds what a pasted ID names among the facts of an organisation. */

import { LAST_MOMENT_MS, MINUTE_MS } from '../../domain/durations.ts'
import { answer, type CallTo } from '../http/call.ts'
import type { ReadScope } from '../reads/scope.ts'

/** An ID of a request: 12 hex digits of the time, and 16 more. */
const REQUEST_ID = /^[0-9a-f]{28}$/
const TIME_DIGITS = 12

export function findById(scope: ReadScope) {
  return scope(async (reads, { query }: CallTo<'find'>) => {
    const { id = '' } = query
    if (id === '') return answer({ found: [] })
    const found = await reads.run('findId', { id, ...timesAround(id) })
    return answer({
      found: found.map((row) => ({ ...row, at: row.kind === 'request' ? requestTimeIn(row.id) : null })),
    })
  })
}

/** A minute around the time of a request; no time for any other ID. */
function timesAround(id: string): { readonly since_ms: number; readonly until_ms: number } {
  const atMs = REQUEST_ID.test(id) ? Math.min(requestTimeIn(id), LAST_MOMENT_MS) : 0
  return atMs === 0 ? { since_ms: 0, until_ms: 0 } : { since_ms: atMs - MINUTE_MS, until_ms: atMs + MINUTE_MS }
}

function requestTimeIn(id: string): number {
  return Number.parseInt(id.slice(0, TIME_DIGITS), 16)
}
