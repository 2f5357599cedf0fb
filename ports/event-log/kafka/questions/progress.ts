/** How far a group has come in a topic: its committed positions, and where the topic ends as far as that is certain. */

import type { TopicProgress } from '../../event-log.ts'
import type { PartitionBounds } from './broker-line.ts'
import { logUnavailable } from '../client.ts'
import { sharedQuestions } from './in-turn.ts'
import type { TopicBounds } from './topic-bounds.ts'

type Positions = ReadonlyMap<number, number>

/**
 * Asks for the positions first: no end is older than they are. A failure is not retried: the caller has a request that waits, or
 * will come again. Rejects with `LogUnavailable`.
 */
export function progressQuestions(
  positionsOf: (groupId: string, topicName: string) => Promise<Positions>,
  boundsOf: TopicBounds['of'],
): (groupId: string, topicName: string) => Promise<TopicProgress> {
  return sharedQuestions(async (groupId: string, topicName: string) => {
    try {
      const positions = await positionsOf(groupId, topicName)
      return progressBy(positions, await boundsOf(topicName))
    } catch (error) {
      throw logUnavailable('Kafka did not answer a request', error)
    }
  })
}

/** @param positions read before the bounds, so that none is beyond its end unless the topic began again */
function progressBy(
  positions: ReadonlyMap<number, number>,
  bounds: readonly (PartitionBounds | null)[],
): TopicProgress {
  return {
    done: bounds.map((known, partition) => known && positionWithin(known, positions.get(partition) ?? known.low)),
    ends: bounds.map((known) => known && known.end),
  }
}

function positionWithin({ low, end }: PartitionBounds, position: number): number | null {
  return position > end ? null : Math.max(low, position)
}
