/** Answers the operator's queries of the facts: the operator itself knows no engine. */

import type { TrafficFacts } from '../../operator/apply/traffic.ts'
import type { ActivityType } from '../../domain/reasons.ts'
import type { Facts } from '../../ports/facts/facts.ts'

const PAUSED: ActivityType = 'destination_paused'

export function factsReader(facts: Pick<Facts, 'run'>): TrafficFacts {
  return {
    traffic: ({ sinceMs, untilMs }) => facts.run('traffic', { since_ms: sinceMs, until_ms: untilMs }),
    destinationStates: async () => {
      const rows = await facts.run('destinationStates', {})
      return rows.map(({ website, destination, latest_type: type, since_ms: sinceMs }) => {
        return { website, destination, isPaused: type === PAUSED, sinceMs }
      })
    },
  }
}
