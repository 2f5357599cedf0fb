/** A Redis that lost everything: the role `state` and `whencectl rebuild-state`, as the programs they are, fill it again. */

import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { monthOf } from '../../domain/collection/rate.ts'
import type { ReceiptState } from '../../domain/receipt-states.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import { redisHotState } from '../../ports/hot-state/redis/redis.ts'
import { LOAD_ORIGIN, LOAD_WEBSITES } from '../crash/service.manifests.ts'
import type { Distributed } from '../../fixtures/service/distributed.ts'
import { startProgram } from '../../fixtures/service/programs.ts'
import { activeReceipt, eventBody, newId, post, type Reply } from '../../fixtures/service/requests.ts'

const [WEBSITE = ''] = LOAD_WEBSITES
const ORGANIZATION = 'load'
const LOOK_MS = 100
/** Many times what a look-up page of the facts holds here. */
const MOST_ROWS = 10_000
/** Seconds, and the time in which a facts-writer gets its partitions; an address may report 30 times a minute. */
const DECISION_LOOKS = 20
const DECISION_LOOK_MS = 1_000

/** Part of the suite that has a load behind it whose records all have become facts. */
export function refillingRedis(serviceOf: () => Distributed): void {
  describe('with a Redis that was emptied', () => {
    let hotState: HotState

    before(async () => {
      hotState = await redisHotState(serviceOf().engines.ownEnv.WHENCE_HOT_STATE, {
        whenAway: 'reject',
        times: { deadlineMs: 10_000 },
      })
    })
    after(() => hotState?.close())

    const empty = (): void => {
      const { engines } = serviceOf()
      engines.redis.cli('-n', new URL(engines.ownEnv.WHENCE_HOT_STATE).pathname.slice(1), 'flushdb')
    }
    /** What the facts say, and what Redis says, of every receipt that was ever activated or revoked. */
    const states = async (): Promise<{ readonly known: readonly string[]; readonly held: readonly string[] }> => {
      const from = {
        since_ms: 0,
        limit: MOST_ROWS,
        after_organization: '',
        after_website: '',
        after_visit_id: '',
        after_effect: 0,
      }
      const rows = await serviceOf().facts.run('activationsAfter', from)
      const known = new Map<string, ReceiptState>()
      const held = new Map<string, string>()
      for (const { organization, website, visit_id: visitId, issued_at_ms: issuedAtMs, effect } of rows) {
        const name = `${website}/${visitId}`
        if (known.get(name) !== 'revoked') known.set(name, effect === 2 ? 'revoked' : 'active')
        const [state = ''] = await hotState.receiptStates([{ organization, website, visitId, issuedAtMs }])
        held.set(name, state)
      }
      const told = (of: ReadonlyMap<string, string>): string[] => [...of].map((one) => one.join(' '))
      return { known: told(known), held: told(held) }
    }
    const report = (more: Readonly<Record<string, unknown>>): Promise<Reply> =>
      post(`${serviceOf().url}/v1/events`, eventBody({ project: WEBSITE, ...more }))

    it('applies what was activated again although the role `state` was not running when it happened', async () => {
      const service = serviceOf()
      await service.program('state').end('SIGTERM')
      empty()
      expect(new Set((await states()).held.map((line) => line.split(' ')[1]))).to.deep.equal(new Set(['unknown']))
      await service.restart('state')
      for (;;) {
        const { known, held } = await states()
        if (known.length > 0 && known.join() === held.join()) break
        await wait(LOOK_MS)
      }
    })

    it('is filled by `whencectl rebuild-state`: states, answers, installations and usage are what they were', async () => {
      const service = serviceOf()
      const page = { project: WEBSITE, page_url: `${LOAD_ORIGIN}/install` }
      const old = await activeReceipt(service.url, page, LOAD_ORIGIN)
      const receipt = await activeReceipt(service.url, { ...page, previous_receipt: old }, LOAD_ORIGIN)
      const installation_id = newId()
      const event = { event_id: newId(), installation_id, receipts: [receipt] }
      const first = await report(event)
      expect(first.body).to.deep.include({ resolution: 'matched' })
      await service.drain()
      const month = monthOf(Date.now())
      const period = { since_ms: Date.parse(`${month}-01T00:00:00Z`), until_ms: Date.now() + 1 }
      const [used] = await service.facts.run('usage', { organization: ORGANIZATION, ...period })
      // It was emptied once before: what it has counted since, and what the role `state` has filled in by now.
      const all = (used?.visits ?? 0) + (used?.installs ?? 0)
      expect(await hotState.readUsage(ORGANIZATION, month)).to.be.within(3, all)
      // While the role `state` is not running, only the tool can fill it.
      await service.program('state').end('SIGTERM')
      empty()
      const { WHENCE_HOT_STATE, WHENCE_FACTS } = service.engines.ownEnv
      for (let runs = 0; runs < 2; runs++) {
        const tool = startProgram(['rebuild-state'], { env: { WHENCE_HOT_STATE, WHENCE_FACTS } })
        expect(await tool.ended, tool.stderr()).to.equal(0)
      }
      const { known, held } = await states()
      expect(held).to.deep.equal(known)
      expect(known.filter((line) => line.endsWith(' revoked')).length).to.be.greaterThan(0)
      expect(await hotState.readUsage(ORGANIZATION, month)).to.equal(all)
      expect((await report(event)).body).to.deep.equal({ ...first.body, duplicate: true })
      const again = await report({ installation_id, event_type: 'first_run' })
      expect(again.body).to.deep.include({ resolution: 'matched', selection_policy: 'same_installation' })
      expect((await report({ receipts: [receipt] })).body).to.deep.include({ selection_policy: 'latest_visit' })
    })

    it('decides what is pending although the role `state` is not running, and gives it to a repeat', async () => {
      const service = serviceOf()
      const page = { project: WEBSITE, page_url: `${LOAD_ORIGIN}/install` }
      const old = await activeReceipt(service.url, page, LOAD_ORIGIN)
      await activeReceipt(service.url, { ...page, previous_receipt: old }, LOAD_ORIGIN)
      // Redis is not marked complete, and the facts lag: whether the installation was matched before cannot be known.
      await service.program('facts-writer').end('SIGTERM')
      await report({})
      const event = { event_id: newId(), installation_id: newId(), receipts: [old] }
      expect((await report(event)).body).to.deep.include({ resolution: 'pending', duplicate: false })
      await service.restart('facts-writer')
      let repeat = await report(event)
      for (let looks = 1; looks < DECISION_LOOKS && repeat.body['resolution'] === 'pending'; looks++) {
        await wait(DECISION_LOOK_MS)
        repeat = await report(event)
      }
      expect(repeat.body).to.deep.include({ resolution: 'unmatched', duplicate: true })
      await service.restart('state')
      while ((await hotState.forgotten()) !== null) await wait(LOOK_MS)
      // Now only Redis knows it.
      expect((await report({ receipts: [old] })).body).to.deep.include({ resolution: 'unmatched' })
    })
  })
}
