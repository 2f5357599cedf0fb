import { expect } from 'chai'
import { createRequire } from 'node:module'
import { mendKafkajs } from '../../ports/event-log/kafka/patches.ts'

const require = createRequire(import.meta.url)
const SILENT = { debug: () => undefined, info: () => undefined, namespace: () => SILENT }

describe('kafkajs, patched', () => {
  it('stops fetching if the consumer was stopped, although brokers changed meanwhile', async () => {
    mendKafkajs()
    const Runner = require('kafkajs/src/consumer/runner')
    const createFetchManager = require('kafkajs/src/consumer/fetchManager')
    const runner = Object.create(Runner.prototype)
    let fetches = 0
    runner.running = false
    runner.consumerGroup = { groupId: 'group', memberId: 'member' }
    runner.logger = SILENT
    runner.fetchManager = createFetchManager({
      logger: SILENT,
      getNodeIds: () => ['1', '2'],
      fetch: (nodeId: string) => {
        fetches++
        return runner.fetch(nodeId)
      },
      handler: () => Promise.resolve(),
    })
    // Without the patch this never returns to the event loop.
    await runner.fetchManager.start()
    expect(fetches).to.equal(2)
  })
})
