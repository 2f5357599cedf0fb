/**
 * Gives a hot state that lost data the answers of the last minutes again, from the log: they are repeated most, and it may take the
 * facts minutes to have them.
 */

import { MINUTE_MS } from '../../domain/durations.ts'
import { matchedVisit } from '../../domain/collection/install.ts'
import type { LogTail } from '../../ports/event-log/event-log.ts'
import type { InstallVerbs } from '../../ports/hot-state/hot-state.ts'
import { answerInRecord } from '../../ports/hot-state/settled-record.ts'
import type { ReadEntry } from '../record-reader.ts'
import { settleAnswer } from './settle-answer.ts'

/**
 * Before the newest entry, by the log's own times: no clock of this process is compared with them. Far more than lies between a loss
 * and its discovery.
 */
const WINDOW_MS = 10 * MINUTE_MS

interface LogRefillDeps {
  readonly eventLog: LogTail
  /** Must reject if the store is unreachable. */
  readonly hotState: InstallVerbs
  readonly read: ReadEntry
  /** Called after each page. */
  readonly onProgress: () => void
}

/** May run while the service works, and may be repeated. Resolves with the number of answers that were missing. */
export async function refillFromLog(deps: LogRefillDeps): Promise<number> {
  const { eventLog, hotState, read, onProgress } = deps
  let restored = 0
  for await (const entries of eventLog.readLast('installs', { windowMs: WINDOW_MS })) {
    const records = entries.flatMap((entry) => read('install', entry, 'installs') ?? [])
    // Started in the log's order: of two records of one event, the first gets the claim and the second finds it taken.
    const outcomes = await Promise.all(
      records.map((record) => settleAnswer(answerInRecord(record), `refill-${record.install.eventId}`, hotState)),
    )
    restored += outcomes.filter((isRestored) => isRestored).length
    onProgress()
  }
  for await (const entries of eventLog.readLast('install_decisions', { windowMs: WINDOW_MS })) {
    const decisions = entries.flatMap((entry) => read('decision', entry, 'install_decisions') ?? [])
    // In the log's order: of several about one event the first counts.
    for (const decision of decisions) {
      const { organization, website, eventId, installationId, receivedAtMs } = decision
      await hotState.decideInstall({
        organization,
        website,
        eventId,
        installationId,
        receivedAtMs,
        answer: JSON.stringify(decision.answer),
        matched: matchedVisit(decision),
      })
    }
    onProgress()
  }
  return restored
}
