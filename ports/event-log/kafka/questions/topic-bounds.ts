/**
 * Where the partitions of a topic end, as far as that is certain.
 *
 * A broker that was stopped and goes on believes for a moment that it still leads its partitions, and answers with the ends of
 * before; so does a request that waited in its connection meanwhile. So a leader counts only if most brokers name it, and is asked
 * afterwards. A partition without such a leader, or whose leader gives no answer, is not known.
 */

import type { Offsets } from '../../../../domain/collection/facts-lag.ts'
import { LogUnavailable, type StoredEntry } from '../../event-log.ts'
import { brokerLine, type BrokerLine, type BrokerView, type LedPartition, type PartitionBounds } from './broker-line.ts'
import { logUnavailable } from '../client.ts'
import type { KafkaSettings } from '../url.ts'

/** Brokers that are asked who leads: enough to outvote two that are mistaken, however large the cluster is. */
const MOST_ASKED = 5
/** Connections that nobody has used for this long are closed. */
const IDLE_MS = 30_000

export interface TopicBounds {
  /** One for each partition, in order; null if it is not known. Rejects with `LogUnavailable` if no broker gives an answer. */
  of(topicName: string): Promise<readonly (PartitionBounds | null)[]>
  /**
   * Page by page all entries from these offsets on, up to the ends when the call began. Rejects with `LogUnavailable` if an end
   * is not known, or entries below it do not come.
   */
  entriesFrom(topicName: string, from: Offsets): AsyncIterable<readonly StoredEntry[]>
  close(): void
}

export function openTopicBounds(settings: KafkaSettings, open = brokerLine): TopicBounds {
  const lines = new Map<string, BrokerLine>()
  /** Addresses that the brokers gave for themselves, when they were asked last. */
  let known: readonly string[] = []
  let idle: NodeJS.Timeout | null = null
  const lineTo = (address: string): BrokerLine => {
    const line = lines.get(address) ?? open(settings, address)
    lines.set(address, line)
    return line
  }
  const close = (): void => {
    if (idle !== null) clearTimeout(idle)
    idle = null
    for (const line of lines.values()) line.rest()
    lines.clear()
  }
  const viewsOf = async (addresses: readonly string[], topicName: string): Promise<readonly BrokerView[]> => {
    const answers = await Promise.allSettled(addresses.map((address) => lineTo(address).view([topicName])))
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  }
  const ask = async (topicName: string): Promise<readonly (LedBounds | null)[]> => {
    if (idle !== null) clearTimeout(idle)
    idle = setTimeout(close, IDLE_MS).unref()
    // Addresses in the settings may be of a load balancer, which says nothing about who answers.
    if (known.length === 0) known = addressesIn(await viewsOf(settings.brokers, topicName))
    const views = await viewsOf(known, topicName)
    if (views.length === 0) {
      known = []
      throw new LogUnavailable('no broker gave an answer')
    }
    const listed = addressesIn(views)
    const leaders = leadersByMost(views, topicName, Math.max(known.length, listed.length))
    known = listed
    return boundsBy(leaders, { topicName, lineTo: (nodeId) => lineToNode(nodeId, views, lineTo) })
  }
  return {
    of: ask,
    async *entriesFrom(topicName, from) {
      for (const [partition, bounds] of (await ask(topicName)).entries()) {
        if (bounds === null) throw new LogUnavailable(`the end of partition ${partition} is not known`)
        yield* entriesWithin(topicName, { ...bounds, partition, from: from[partition] ?? 0 })
      }
    },
    close,
  }
}

interface LedBounds extends PartitionBounds {
  readonly line: BrokerLine
}

async function* entriesWithin(
  topicName: string,
  { line, partition, low, end, from }: LedBounds & { readonly partition: number; readonly from: number },
): AsyncGenerator<readonly StoredEntry[]> {
  let next = Math.max(low, from)
  while (next < end) {
    const entries = await line.entries(topicName, { partition, from: next }).catch((error: unknown) => {
      throw logUnavailable('entries could not be read', error)
    })
    const last = entries.at(-1)
    if (last === undefined) throw new LogUnavailable(`no entry of partition ${partition} came from ${next} on`)
    next = last.offset + 1
    yield entries.filter(({ offset }) => offset < end)
  }
}

/**
 * The leader of each partition in order, if more than half of the brokers that could be asked name it; else null.
 * @param asked how many brokers there are to ask; those that gave no answer name nobody
 */
function leadersByMost(views: readonly BrokerView[], topicName: string, asked: number): readonly (number | null)[] {
  const told = views.map((view) => view.topics.get(topicName) ?? [])
  const partitions = Math.max(0, ...told.flat().map(({ partition }) => partition + 1))
  return Array.from({ length: partitions }, (_, partition) => namedByMost(told, partition, asked))
}

function namedByMost(told: readonly (readonly LedPartition[])[], partition: number, asked: number): number | null {
  const votes = new Map<number, number>()
  for (const leaders of told) {
    const leader = leaders.find((one) => one.partition === partition)?.leader ?? null
    if (leader !== null) votes.set(leader, (votes.get(leader) ?? 0) + 1)
  }
  const [most] = [...votes].filter(([, count]) => count * 2 > asked)
  return most?.[0] ?? null
}

async function boundsBy(
  leaders: readonly (number | null)[],
  { topicName, lineTo }: { readonly topicName: string; readonly lineTo: (nodeId: number) => BrokerLine | null },
): Promise<readonly (LedBounds | null)[]> {
  const known = new Map<number, LedBounds>()
  const askOne = async (leader: number): Promise<void> => {
    const partitions = leaders.flatMap((one, partition) => (one === leader ? [partition] : []))
    const line = lineTo(leader)
    if (line === null) return
    for (const [partition, found] of await line.bounds(topicName, partitions)) known.set(partition, { ...found, line })
  }
  const led = new Set(leaders.filter((leader) => leader !== null))
  await Promise.allSettled([...led].map(askOne))
  return leaders.map((_, partition) => known.get(partition) ?? null)
}

function lineToNode(
  nodeId: number,
  views: readonly BrokerView[],
  lineTo: (address: string) => BrokerLine,
): BrokerLine | null {
  const named = views.flatMap(({ brokers }) => brokers).find((broker) => broker.nodeId === nodeId)
  return named === undefined ? null : lineTo(named.address)
}

/** Of brokers by ascending node ID, so that the same ones are asked each time. */
function addressesIn(views: readonly BrokerView[]): readonly string[] {
  const brokers = new Map(views.flatMap((view) => view.brokers).map(({ nodeId, address }) => [nodeId, address]))
  const ordered = [...brokers].toSorted(([one], [other]) => one - other)
  return ordered.map(([, address]) => address).slice(0, MOST_ASKED)
}
