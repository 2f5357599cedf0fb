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

  describe('whatever the wall clock does', () => {
    const wall = Date.now
    afterEach(() => {
      Date.now = wall
    })

    /** A queue with one request in flight; resolves when it has been looked at `looks` times, with how often it was called late. */
    const latenessOf = async (requestTimeout: number, looks: number): Promise<number> => {
      mendKafkajs()
      const RequestQueue = require('kafkajs/src/network/requestQueue')
      const SocketRequest = require('kafkajs/src/network/requestQueue/socketRequest')
      let late = 0
      const looked = Promise.withResolvers<void>()
      const queue = new RequestQueue({
        maxInFlightRequests: null,
        requestTimeout: 10,
        enforceRequestTimeout: true,
        clientId: 'c',
        broker: 'b:1',
        logger: SILENT,
        isConnected: () => (--looks === 0 && looked.resolve(), true),
      })
      const request = new SocketRequest({
        requestTimeout,
        broker: 'b:1',
        clientId: 'c',
        expectResponse: true,
        entry: { correlationId: 1, apiName: 'Produce', apiKey: 0, apiVersion: 7, reject: () => undefined },
        send: () => undefined,
        timeout: () => (late++, queue.inflight.delete(1)),
      })
      request.send()
      queue.inflight.set(1, request)
      queue.scheduleRequestTimeoutCheck()
      Date.now = () => wall() + 7_200_000
      await looked.promise
      queue.destroy()
      return late
    }

    it('does not call requests in flight late after it was set forward', async () => {
      expect(await latenessOf(3_600_000, 3)).to.equal(0)
    })

    it('still ends those that are late', async () => {
      expect(await latenessOf(1, 20)).to.equal(1)
    })
  })
})
