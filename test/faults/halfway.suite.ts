/** What a crash or a loss leaves half done between two stores, across processes: the next one completes it or answers the same. */

import { expect } from 'chai'
import { until } from '../../fixtures/until.ts'
import { startDistributed, type Distributed } from '../../fixtures/service/distributed.ts'
import type { Engines } from '../../fixtures/engines/engines.ts'
import { activeReceipt, eventBody, post, visitBody, type Reply } from '../../fixtures/service/requests.ts'
import { TEST_ORIGIN } from '../../fixtures/service/service.ts'
import type { FaultParts } from './breaking.suite.ts'

const WEBSITE = 'acme-dev'
const ANSWER_MS = 4_000

export function stoppingHalfWay({ links, place }: FaultParts): void {
  describe('a half-finished step', function () {
    this.timeout(240_000)
    let service: Distributed
    /** Of a process that knows nothing of what the first one saw. */
    let other: string

    before(async () => {
      service = await startDistributed({ engines: await place() })
      other = (await service.add('api')).url
    })
    after(() => service?.stop())

    const visit = async (url: string, more: Record<string, unknown> = {}): Promise<string> => {
      const { status, body, text } = await post(`${url}/v1/visits`, visitBody(more), TEST_ORIGIN)
      expect(status, text).to.equal(200)
      return body['marker'].receipt as string
    }
    const activate = async (url: string, receipt: string): Promise<void> => {
      const { status, text } = await post(`${url}/v1/visits/activate`, { project: WEBSITE, receipt }, TEST_ORIGIN)
      expect(status, text).to.equal(200)
    }
    const report = (url: string, body: object): Promise<Reply> => post(`${url}/v1/events`, body)
    const revoked = async (): Promise<number> => {
      const sql = `SELECT effect FROM activations FINAL WHERE effect = 'revoked'`
      return (await service.engines.connection.query(sql, {}, { turn: 'report' })).length
    }
    const rowOf = async (event: Record<string, any>) =>
      (await service.facts.run('installsByEventId', { event_id: event['event_id'] }))[0]

    it('is an activation whose visit ClickHouse did not have yet while Redis had forgotten it: it still revokes', async () => {
      await service.program('facts-writer').end('SIGTERM')
      const old = await activeReceipt(service.url)
      const newer = await visit(service.url, { previous_receipt: old })
      const { redis, ownEnv } = service.engines
      redis.cli('-n', new URL(ownEnv.WHENCE_HOT_STATE).pathname.slice(1), 'flushdb')
      await activate(other, newer)
      await service.restart('facts-writer')
      await until(async () => (await revoked()) === 1)
      expect((await report(other, eventBody({ receipts: [old, newer] }))).body).to.deep.include({ candidate_count: 1 })
      const alone = eventBody({ receipts: [old] })
      await report(other, alone)
      await until(async () => (await rowOf(alone))?.resolution === 'unmatched')
      expect(await revoked()).to.equal(1)
    })

    it('is an install that was appended and not settled when its process was killed: the next try answers what is stored', async () => {
      const clientId = '2222222222.1790000002'
      const identities = { ga4: { 'G-TEST000001': { client_id: clientId, session_id: '1790000002' } } }
      const old = await activeReceipt(service.url, { identities })
      const newer = await visit(service.url, { previous_receipt: old })
      const event = eventBody({ receipts: [old] })
      // The first install of a process asks who leads the topic.
      expect((await report(service.url, eventBody())).status).to.equal(200)
      // The record gets there, and its acknowledgement comes so late that no process can settle the claim.
      await links().delay('kafka', ANSWER_MS)
      const cutOff = report(service.url, event).catch(() => null)
      await until(async () => decisionsKept(service.engines) > 0)
      await service.program('api').end('SIGKILL')
      await links().delay('kafka', 0)
      expect((await cutOff)?.status ?? 503).to.equal(503)
      await until(async () => (await rowOf(event)) !== undefined)
      // The event would be decided differently now.
      await activate(other, newer)
      const answers: Reply[] = []
      await until(async () => {
        answers.push(await report(other, event))
        return answers.at(-1)?.status === 200
      })
      const { duplicate: _, ...told } = answers.at(-1)?.body ?? {}
      expect(told).to.deep.include({ resolution: 'matched', selection_policy: 'latest_visit' })
      await service.restart('api')
      const hits = () => service.ga4.requests().filter(({ body }) => (body as any).client_id === clientId)
      await until(async () => hits().length > 0)
      await service.drain()
      const { duplicate: __, ...stored } = JSON.parse((await rowOf(event))?.answer ?? '{}') as Reply['body']
      expect(told).to.deep.equal(stored)
      expect(hits()).to.have.length(1)
    })
  })
}

/** How many events Redis keeps a decision for that is not settled. */
function decisionsKept({ redis, ownEnv }: Engines): number {
  const script = `
    local count = 0
    for _, key in ipairs(redis.call('KEYS', 'whence:e:*')) do
      if string.sub(redis.call('GET', key), 7, 7) == 'D' then count = count + 1 end
    end
    return count`
  const database = new URL(ownEnv.WHENCE_HOT_STATE).pathname.slice(1)
  return Number(redis.cli('-n', database, 'eval', script, '0'))
}
