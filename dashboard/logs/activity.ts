/** One page of what an organisation's people should notice. */

import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { ActivityRow } from '../../ports/facts/query-rows.ts'
import { answer, type CallTo } from '../http/call.ts'
import type { ReadScope } from '../reads/scope.ts'
import { refuseCursor, type Cursors } from './cursor.ts'

interface ActivityListParts {
  readonly scope: ReadScope
  readonly cursors: Cursors
}

export function listActivity({ scope, cursors }: ActivityListParts) {
  return scope(async (reads, call: CallTo<'activity'>) => {
    const { organization } = reads
    const { type, object, actor, cursor, limit = LIMITS.activityEntries.fallback } = call.query
    // A cursor of Logs is not valid for this list.
    const list = `activity ${organization.id}`
    const from = cursor === undefined ? undefined : cursors.read(list, cursor)
    if (from === null) return refuseCursor()
    const rows = await reads.run('activityPage', {
      since_ms: call.nowMs - Math.max(organization.logRetentionDays, LIMITS.auditRetentionDays) * DAY_MS,
      // Clocks of other machines may be ahead.
      until_ms: call.nowMs + LIMITS.clockSkewMs,
      limit: limit + 1,
      ...(from === undefined ? {} : { before_ms: from.beforeMs, before_id: from.beforeId }),
      ...(type === undefined ? {} : { type }),
      ...(object === undefined ? {} : { subject: object }),
      ...(actor === undefined ? {} : { actor }),
    })
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    const hasMore = rows.length > page.length && last !== undefined
    return answer({
      entries: page.map(shown),
      next: hasMore ? cursors.write(list, { beforeMs: last.noticed_at_ms, beforeId: last.id }) : null,
    })
  })
}

/** The person, and the changed fields of an object, are present only if they are known. */
function shown({ id, noticed_at_ms: at, type, subject, website, message, ...row }: ActivityRow) {
  const { actor, manager, fields } = row
  return {
    id,
    at,
    type,
    object: subject,
    website,
    message,
    ...(actor === '' ? {} : { actor }),
    ...(manager === '' ? {} : { manager }),
    ...(fields.length === 0 ? {} : { fields }),
  }
}
