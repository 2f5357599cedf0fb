/**
 * Writes a letter to each person who is told of an alert. A batch that comes again gives the same letters, each under its own ID, so that nobody gets
 * two.
 */

import { sha256Hex } from '../../common/digest.ts'
import type { Letter } from '../../domain/people/letters.ts'
import type { ReadableRecords } from '../../domain/read-record.ts'
import type { Batch, BatchOutcome, Consumer, LogConsumers, LogWriter } from '../../ports/event-log/event-log.ts'
import type { Telemetry } from '../../runtime/metrics.ts'
import { createRecordReader } from '../record-reader.ts'
import { consumeReadable } from '../version-guard.ts'

interface AlertLettersDeps {
  readonly eventLog: LogConsumers & LogWriter
  /** Names of the Members of an organisation that are told. */
  readonly recipients: (organization: string) => readonly string[]
  /** Resolves once the letter is on the log. Letters with one ID are one mail. */
  readonly put: (letter: Letter, id: string) => Promise<void>
  readonly telemetry: Telemetry
  readonly nowMs: () => number
}

const GROUP = 'alert-letters'
const BATCH_ALERTS = 100
const ID_CHARS = 32

/** Alerts from before this first ran are not mailed. */
export async function startAlertLetters(deps: AlertLettersDeps): Promise<Pick<Consumer, 'close'>> {
  const { recipients, put, telemetry } = deps
  const read = createRecordReader(telemetry, GROUP)
  const handle = async ({ entries, topic }: Batch): Promise<BatchOutcome> => {
    for (const entry of entries) {
      const alert = read('alert', entry, topic)
      if (alert === null) continue
      for (const member of recipients(alert.organization))
        await put(letterAbout(alert, member), letterId(alert, member))
    }
    return { done: entries.length }
  }
  const consume = consumeReadable(deps)
  return consume('alerts', GROUP, handle, { maxEntries: BATCH_ALERTS, from: 'newest' })
}

function letterAbout(alert: ReadableRecords['alert'], member: string): Letter {
  const { organization, website, rule, of, period, state, value, expected, threshold } = alert
  const told = { website, rule, of, period, state, value, expected, threshold }
  return { kind: 'alert', organization, member, alert: told }
}

function letterId({ id, state, organization }: ReadableRecords['alert'], member: string): string {
  return sha256Hex(['alert letter', organization, id, state, member].join('\n')).slice(0, ID_CHARS)
}
