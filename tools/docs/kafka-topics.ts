/** `docs/kafka-topics.md`: every topic, with its partitions, how long it is kept, and what makes it. */

import { TOPIC_GROUPS, TOPIC_SETS, type TopicGroup } from '../../ports/event-log/kafka/topic-groups.ts'
import { keysOf } from '../../domain/typed-keys.ts'
import { code, number, page, table, unitWords } from './markdown.ts'

export function kafkaTopicsPage(): string {
  const all = TOPIC_SETS.flatMap(({ topics }) => topics)
  const topicsOf = (group: TopicGroup): readonly string[] =>
    all.flatMap(([topic, own]) => (own === group ? [topic] : []))
  const rows = keysOf(TOPIC_GROUPS).map((group) => {
    const { holds, keepMs, madeFor, partitions } = TOPIC_GROUPS[group]
    return [
      code(group),
      holds,
      topicsOf(group).map(code).join(', '),
      number(partitions),
      unitWords('keepMs', keepMs),
      madeFor ?? '`whencectl migrate`',
    ]
  })
  const always = TOPIC_SETS.filter(({ isAlwaysThere }) => isAlwaysThere)
  const one = TOPIC_SETS.filter(({ topics }) => topics.some(([topic]) => topic === 'deliver.ga4'))
  return page('Topics on Kafka', 'ports/event-log/kafka/topic-groups.ts', [
    'Names without the prefix. `partitions` in the address ([kafka.md](kafka.md)) sets the number for all topics, and `partitions-GROUP` for one group, as in ' +
      '`partitions-records=24`. It counts when a topic is made.',
    table(['Group', 'Holds', 'Topics', 'Partitions', 'Kept', 'Made by'], rows),
    'Together, by default:',
    table(
      ['Installation', 'Topics', 'Partitions', 'Replicas with three copies'],
      [
        ['nothing configured', ...countsOf(always)],
        ['one provider', ...countsOf([...always, ...one])],
        ['every provider, webhooks and mail', ...countsOf(TOPIC_SETS)],
      ],
    ),
  ])
}

function countsOf(sets: typeof TOPIC_SETS): readonly string[] {
  const groups = sets.flatMap(({ topics }) => topics.map(([, group]) => group))
  const partitions = groups.reduce((sum, group) => sum + TOPIC_GROUPS[group].partitions, 0)
  return [groups.length, partitions, 3 * partitions].map(number)
}
