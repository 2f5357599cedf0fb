/** Reports lasting problems in an organisation's activity: at most hourly for each subject. */

import type { NumberedCatalog } from '../domain/catalog.ts'
import type { CatalogInHand } from '../domain/published/catalog-number.ts'
import { HOUR_MS } from '../domain/durations.ts'
import type { ActivityType } from '../domain/reasons.ts'
import { encodeRecord, recordKey, type ActivityRecord } from '../domain/records.ts'
import type { LogWriter } from '../ports/event-log/event-log.ts'
import type { JobVerbs } from '../ports/hot-state/hot-state.ts'
import type { Telemetry } from '../runtime/metrics.ts'
import { timeOrderedId, type Randomness } from '../runtime/random.ts'

export interface HourlyNewsParts {
  readonly eventLog: LogWriter
  readonly hotState: JobVerbs
  readonly telemetry: Telemetry
  readonly randomness: Randomness
  readonly nowMs: () => number
  readonly catalog: CatalogInHand<NumberedCatalog>
}

interface News {
  readonly type: ActivityType
  readonly subject: string
  readonly message: string
  readonly organization: { readonly id: string; readonly logRetentionDays: number }
}

/** Never rejects: a problem that is not reported now is reported in an hour. */
type TellHourly = (news: News) => Promise<void>

export function createHourlyNews(parts: HourlyNewsParts): TellHourly {
  const { eventLog, hotState, randomness, nowMs, catalog } = parts
  const { logger } = parts.telemetry
  return async ({ organization, type, subject, message }) => {
    logger.warn({ organization: organization.id, type, subject, message }, 'news for an organisation')
    const atMs = nowMs()
    const id = timeOrderedId(randomness, atMs)
    const isFirst = await hotState
      .claimJob(`news/${type}/${organization.id}/${subject}`, id, HOUR_MS)
      .catch(() => false)
    if (!isFirst) return
    const record: ActivityRecord = {
      v: 1,
      kind: 'activity',
      id,
      atMs,
      organization: organization.id,
      website: '',
      type,
      subject,
      message,
      catalogNumber: catalog.current().number,
      logRetentionDays: organization.logRetentionDays,
    }
    const entry = { key: recordKey(record, id), value: encodeRecord(record) }
    await eventLog.append('activity', [entry]).catch((error: unknown) => logger.warn({ err: error }, 'news not stored'))
  }
}
