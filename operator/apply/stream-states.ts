/** Shows in the status of every LogStream how far it is. */

import { readShownStream, shownStream, type ShownStream, type StreamReport } from '../../domain/streams/status.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { kubeKey } from '../../runtime/kube/objects.ts'
import type { Decision } from '../decide/decide.ts'
import type { StatusWriter } from './writer.ts'

interface StreamStatesOptions {
  readonly writer: StatusWriter
  readonly current: (stream: KubeObject) => KubeObject | undefined
  readonly nowMs: () => number
}

/** A separate field manager: the other fields of the status are applied without these, which must not remove them. */
const STREAMS_MANAGER = 'whence-operator-streams'
/** What exceeds this is written in the next round. */
const MOST_WRITES = 100

interface ReportedStream {
  readonly there: KubeObject
  readonly report: StreamReport
}

/** Writes states that changed enough; a stream that no process has served yet shows none. Repeats failed writes. */
export function createStreamStates({ writer, current, nowMs }: StreamStatesOptions) {
  /** Last written, by key and uid: the copy of the cluster lags a moment behind. */
  let written = new Map<string, ShownStream>()
  return async (reports: readonly StreamReport[], decision: Decision): Promise<void> => {
    const still = new Map<string, ShownStream>()
    let writes = 0
    for (const { there, report } of reported(reports, decision, current)) {
      const key = `${kubeKey(there)} ${there.metadata.uid ?? ''}`
      const before = written.get(key) ?? readShownStream(there['status'])
      const shown = shownStream(report, before, nowMs())
      if (before !== null) still.set(key, before)
      if (shown === before || writes === MOST_WRITES) continue
      writes += 1
      await writer.applyStatus('LogStream', there, shown, STREAMS_MANAGER).then(
        () => still.set(key, shown),
        () => undefined,
      )
    }
    written = still
  }
}

/** Streams in force of which something is known. */
function reported(
  reports: readonly StreamReport[],
  { objects }: Decision,
  current: StreamStatesOptions['current'],
): readonly ReportedStream[] {
  const byStream = new Map(reports.map((report) => [report.stream, report]))
  return [...objects.values()].flatMap(({ kind, object, isInForce }) => {
    if (kind !== 'LogStream' || !isInForce) return []
    const report = byStream.get(`${object.metadata.namespace}/${object.metadata.name}`)
    const there = current(object)
    return there === undefined || report === undefined ? [] : [{ there, report }]
  })
}
