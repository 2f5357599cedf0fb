/** Answers the operator's queries of the facts: the operator itself knows no engine. */

import { STREAM_STATES } from '../../domain/streams/pace.ts'
import type { TrafficFacts } from '../../operator/apply/traffic.ts'
import type { ActivityType } from '../../domain/reasons.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'

const PAUSED: ActivityType = 'destination_paused'

export function factsReader(facts: FactsReader): TrafficFacts {
  return {
    traffic: ({ sinceMs, untilMs }) => facts.run('traffic', { since_ms: sinceMs, until_ms: untilMs }),
    destinationStates: async () => {
      const rows = await facts.run('destinationStates', {})
      return rows.map(({ organization, website, destination, latest_type: type, since_ms: sinceMs }) => {
        return { organization, website, destination, isPaused: type === PAUSED, sinceMs }
      })
    },
    streamStates: async () => {
      const rows = await facts.run('streamStates', {})
      return rows.flatMap(({ organization, stream, state, behind, dropped, last_error: lastError, ...times }) => {
        const { oldest_at_ms: oldestMs, delivered_at_ms: deliveredMs, failing_since_ms: failingSinceMs } = times
        const report = { organization, stream, behind, dropped, lastError, oldestMs, deliveredMs, failingSinceMs }
        const known = STREAM_STATES.find((each) => each === state)
        // A later release may know another one.
        return known === undefined ? [] : [{ ...report, state: known }]
      })
    },
  }
}
