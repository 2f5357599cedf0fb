/** One page of what an organisation's people should notice. */

import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import type { ActivityRow } from '../../ports/facts/query-rows.ts'
import { answer } from '../http/call.ts'
import { textParameter } from '../http/parameters.ts'
import type { ReadScope } from '../reads/scope.ts'
import { CURSOR_PARAMETER, refuseCursor, type Cursors } from './cursor.ts'

const TEXT_CHARS = 400

/** More than the contract's maximum is refused, not truncated. */
export const ACTIVITY_QUERY = {
  limit: {
    type: 'integer',
    description: 'Entries of the page.',
    minimum: 1,
    maximum: LIMITS.activityEntries.max,
    default: LIMITS.activityEntries.fallback,
  },
  type: textParameter('Only of this type.', TEXT_CHARS),
  object: textParameter('Only about this, as entries name it.', TEXT_CHARS),
  actor: textParameter('Only by this person, as entries name them.', TEXT_CHARS),
  cursor: CURSOR_PARAMETER,
} as const satisfies Record<string, JsonSchema>

interface ActivityListParts {
  readonly scope: ReadScope
  readonly cursors: Cursors
}

export function listActivity({ scope, cursors }: ActivityListParts) {
  return scope(async (reads, call) => {
    const { organization } = reads
    const { type, object, actor, cursor, limit = LIMITS.activityEntries.fallback } = call.queryValues
    // A cursor of Logs is not valid for this list.
    const list = `activity ${organization.id}`
    const from = typeof cursor === 'string' ? cursors.read(list, cursor) : undefined
    if (from === null) return refuseCursor()
    const rows = await reads.run('activityPage', {
      since_ms: call.nowMs - Math.max(organization.logRetentionDays, LIMITS.auditRetentionDays) * DAY_MS,
      // Clocks of other machines may be ahead.
      until_ms: call.nowMs + LIMITS.clockSkewMs,
      limit: Number(limit) + 1,
      ...(from === undefined ? {} : { before_ms: from.beforeMs, before_id: from.beforeId }),
      ...(typeof type === 'string' ? { type } : {}),
      ...(typeof object === 'string' ? { subject: object } : {}),
      ...(typeof actor === 'string' ? { actor } : {}),
    })
    const page = rows.slice(0, Number(limit))
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
