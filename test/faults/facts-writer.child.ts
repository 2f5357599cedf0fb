/**
 * The facts-writer as a process that kills itself at a named point: `before-insert`, or `before-commit`, which is when the
 * first insert of many rows was acknowledged and its position is not committed yet.
 */

import { startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import { kafkaEventLog } from '../../ports/event-log/kafka/kafka.ts'
import { parseKafkaUrl } from '../../ports/event-log/kafka/url.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openClickHouse } from '../../ports/facts/engine/connect-server.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { createLogger } from '../../runtime/logger.ts'

const [eventLogUrl = '', factsUrl = '', point = ''] = process.argv.slice(2)
const parsed = parseKafkaUrl(eventLogUrl)
if (!parsed.ok) throw new Error(parsed.why)
// Its place in the group is free soon after it is killed.
const eventLog = await kafkaEventLog(parsed.value, { membership: { sessionMs: 3_000, heartbeatMs: 500 } })
const facts = clickhouseFacts(openClickHouse(factsUrl), { nowMs: Date.now })
const die = (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => undefined)
}
const dying: Facts = {
  each: (...asked) => facts.each(...asked),
  startBatch: () => {
    const batch = facts.startBatch()
    return {
      get chars() {
        return batch.chars
      },
      add: (table, row) => batch.add(table, row),
      insert: async () => {
        if (point === 'before-insert') await die()
        await batch.insert()
        await die()
      },
    }
  },
  insert: (table, rows) => facts.insert(table, rows),
  run: (query, params) => facts.run(query, params),
  countNamed: (names) => facts.countNamed(names),
  erase: (names) => facts.erase(names),
  countOrganization: (organization) => facts.countOrganization(organization),
  eraseOrganization: (organization) => facts.eraseOrganization(organization),
  eraseOlder: (owner, beforeMs) => facts.eraseOlder(owner, beforeMs),
  eraseFigures: (website, hours) => facts.eraseFigures(website, hours),
  health: () => facts.health(),
  close: () => facts.close(),
}
await startFactsWriter({
  eventLog,
  facts: dying,
  logger: createLogger({ program: 'test', level: 'error' }),
  nowMs: Date.now,
})
