/** What the Redis hot state promises beyond the contract: short entries, and continuing when Redis is emptied or unreachable. */

import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import { expect } from 'chai'

import type { ReceiptStanding } from '../../domain/receipt-states.ts'
import type { Claim, HotState, IssuedReceipt, Loss, ReceiptRef } from '../../ports/hot-state/hot-state.ts'
import { redisClient } from '../../ports/hot-state/redis/client.ts'
import { receiptId } from '../../ports/hot-state/redis/codec.ts'
import { RedisConnection } from '../../ports/hot-state/redis/connection.ts'
import { parseRedisUrl } from '../../ports/hot-state/redis/url.ts'
import { redisHotState, type RedisHotStateOptions } from '../../ports/hot-state/redis/redis.ts'
import { hasRedisServer, startRedis, startSentinel, type RedisServer } from '../../fixtures/engines/redis.ts'
import { until } from '../../fixtures/until.ts'

const WEBSITE = 'acme-dev'
const MONTH = '2026-11'
/** Longer than in service: other work on the machine must not look like an unreachable Redis. */
const SHORT = { deadlineMs: 1_000, probeEveryMs: 100 }
/** Which data these are, and which processes live. */
const MARKS = ['whence:epoch', 'whence:alive', 'whence:heard']
/** That a process keeps for Redis. */
const MOST_MESSAGES = 20_000
const NO_LOSS: Loss = { generation: 'alone', sinceMs: null, losses: '' }
/** Redis's own bound for flat hashes is set to what the scripts count on. */
const SETTINGS = ['hash-max-listpack-entries 128', 'maxmemory-policy noeviction']

describe('Redis hot state', () => {
  let server: RedisServer
  const opened: HotState[] = []
  const thawed: RedisServer[] = []

  before(async function () {
    if (!hasRedisServer()) return this.skip()
    // By default Redis writes up to two seconds late while the disk is busy, and a kill loses what it answered in them.
    server = await startRedis({ settings: [...SETTINGS, 'appendonly yes', 'appendfsync always'] })
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((state) => state.close()))
    for (const frozen of thawed.splice(0)) frozen.thaw()
    server.cli('flushall')
  })
  after(() => server?.stop())

  const open = async (options: RedisHotStateOptions = {}, url = server.url): Promise<HotState> => {
    const state = await redisHotState(url, { ...options, times: { ...SHORT, ...options.times } })
    opened.push(state)
    return state
  }
  const freeze = (frozen = server): void => {
    thawed.push(frozen)
    frozen.freeze()
  }
  const isShared = (state: HotState) => async (): Promise<boolean> => state.health().isShared

  it('writes nothing to data of another form, and says what to do', async () => {
    server.cli('set', 'whence:epoch', '0123456789abcdef')
    const reasons: string[] = []
    const state = await open({ news: { onUnreachable: (reason) => reasons.push(reason) } })
    expect(state.health()).to.deep.equal({ isReachable: false, isShared: false })
    expect(reasons).to.deep.equal([
      'Redis holds data in another form: use an empty database, or the program that made them',
    ])
    expect(server.cli('keys', '*')).to.equal('whence:epoch')
    server.cli('flushall')
    await until(isShared(state))
  })

  describe('in memory', () => {
    it('keeps the states of a day in short hashes that stay flat', async () => {
      const state = await open({ times: { deadlineMs: 10_000 } })
      const receipts = times(6_000, () => issued())
      await Promise.all(receipts.map((known, index) => state.learn(known, index % 2 === 0 ? 'active' : 'revoked')))
      const { entries, flat, bytes, longest } = buckets(server)
      expect(entries).to.equal(receipts.length)
      expect(flat).to.be.within(2_500, 4_096)
      expect(longest).to.be.below(20)
      expect(bytes).to.be.below(4_096 * 500)
    })

    it('continues a full hash by others that stay flat too, and finds every state in them', async () => {
      const state = await open({ times: { deadlineMs: 10_000 } })
      const neighbours = receiptsOfOneBucket(180).map((known) => issued(known))
      await Promise.all(neighbours.map((known) => state.learn(known, 'active')))
      const { entries, flat, other, longest } = buckets(server)
      expect({ entries, other, longest }).to.deep.equal({ entries: 180, other: 0, longest: 128 })
      expect(flat).to.be.within(10, 17)
      const asked = [...neighbours.slice(0, 30), ...neighbours.slice(-30)]
      await Promise.all(asked.slice(0, 40).map((known) => state.learn(known, 'revoked')))
      const expected = times(60, (index) => (index < 40 ? 'revoked' : 'active'))
      expect(await state.receiptStates(asked)).to.deep.equal(expected)
      expect(buckets(server).entries).to.equal(180)
    })

    it('leaves nothing that stays for ever but its marks', async () => {
      const state = await open()
      const first = receipt()
      const second = receipt()
      await state.putVisit({ ...second, previous: first })
      await state.activate(second)
      await state.putVisit(issued())
      await state.claimInstall(claim('settled'))
      await state.settleInstall({
        ...claim('settled'),
        answer: 'x',
        receivedAtMs: 0,
        matched: { ...first, gpc: false },
      })
      await state.claimInstall(claim('claimed'))
      await state.countHits([{ key: 'a', limit: 1, windowS: 60 }])
      await state.addUsage({ organization: 'acme', month: MONTH, quota: null })
      await state.claimJob('job', 'owner', 1_000)
      const script =
        "local l = {} for _, k in ipairs(redis.call('KEYS', '*')) do if redis.call('TTL', k) < 0 then l[#l + 1] = k end end return l"
      expect(Number(server.cli('dbsize'))).to.be.greaterThan(7)
      expect(server.cli('eval', script, '0').split('\n')).to.have.members(MARKS)
    })

    it('gives each key back when what it holds is over, and a minute for the clocks, but not before', async () => {
      const state = await open()
      const settled = { ...claim('settled'), answer: 'x', receivedAtMs: 0, matched: { ...receipt(), gpc: false } }
      const visits = [receipt(), receipt()] as const
      const fromMs = redisMs(server)
      for (const known of visits) await state.putVisit(issued(known))
      await state.activate(visits[1])
      await state.claimInstall(settled)
      await state.settleInstall(settled)
      await state.claimInstall(claim('claimed'))
      for (const windowS of [60, 86_400])
        for (let time = 0; time < 2; time++) await state.countHits([{ key: `w${windowS}`, limit: 1, windowS }])
      await state.countHits([{ key: 'open', limit: 9, windowS: 3_600 }])
      for (let time = 0; time < 2; time++) await state.addUsage({ organization: 'over', month: MONTH, quota: 1 })
      await state.addUsage({ organization: 'acme', month: MONTH, quota: null })
      await state.raiseUsage({ organization: 'raised', month: MONTH, atLeast: 3 })
      await state.claimJob('job', 'owner', 30_000)
      const toMs = redisMs(server)
      const keys = expiries(server)
      expect(
        keys
          .map(({ key }) => key.split(':')[1])
          .sort()
          .join(''),
      ).to.equal('eehhhijruuuv')
      for (const { key, expiresAtMs } of keys) {
        const held = expectedLife(key)
        if ('untilMs' in held) expect(expiresAtMs - held.untilMs, key).to.be.within(GRACE_MS - 1, GRACE_MS + 1)
        else
          expect(
            held.forMs.some((forMs) => isWithin(expiresAtMs - forMs, fromMs, toMs)),
            key,
          ).to.equal(true)
      }
    })

    it('knows a receipt in one place: when it is active it is no longer among those that were only issued', async () => {
      const state = await open()
      const known = receipt()
      await state.putVisit(issued(known))
      expect(server.cli('keys', 'whence:i:*')).not.to.equal('')
      await state.activate(known)
      expect(server.cli('keys', 'whence:i:*')).to.equal('')
    })

    it('keeps nothing for receipts that never proved themselves', async () => {
      const state = await open()
      await state.activate(receipt())
      await state.receiptStates([receipt(), receipt()])
      expect(server.cli('keys', '*').split('\n')).to.have.members(MARKS)
    })
  })

  describe('shared by many processes', () => {
    it('admits exactly the limit of 10,000 concurrent hits by four clients', async () => {
      const states = await Promise.all(times(4, () => open({ times: { deadlineMs: 20_000 } })))
      const outcomes = await Promise.all(
        states.flatMap((state) =>
          times(2_500, () => state.countHits([{ key: 'website', limit: 777, windowS: 86_400 }])),
        ),
      )
      expect(outcomes.filter(({ kind }) => kind === 'counted').length).to.equal(777)
    }).timeout(40_000)

    it('keeps working after the scripts were forgotten', async () => {
      const state = await open()
      const known = receipt()
      await state.putVisit({ ...known, previous: null })
      server.cli('script', 'flush')
      expect(await state.activate(known)).to.deep.equal({ kind: 'activated', revoked: null })
      expect(state.health()).to.deep.equal({ isReachable: true, isShared: true })
    })

    it('reports that Redis was emptied, and keeps working', async () => {
      const runs: (string | null)[] = []
      const state = await open({ news: { onNewRun: (run, before) => runs.push(before, run) } })
      const known = receipt()
      await state.learn({ ...known, previous: null }, 'active')
      server.cli('flushall')
      await until(async () => runs.length === 4)
      expect(runs[0]).to.equal(null)
      expect(runs[2]).to.equal(runs[1])
      expect(runs[3]).to.not.equal(runs[1])
      expect(await state.receiptStates([known])).to.deep.equal(['unknown'])
    })

    it('says that Redis was killed and started again, and knows what it held', async () => {
      const runs: string[] = []
      const state = await open({ news: { onNewRun: (run) => runs.push(run) } })
      await state.claimInstall(claim('event-1'))
      await state.settleInstall({ ...claim('event-1'), answer: 'kept', receivedAtMs: 0, matched: null })
      await server.kill()
      expect(await state.receiptStates([receipt()])).to.deep.equal(['unknown'])
      expect(state.health()).to.deep.equal({ isReachable: false, isShared: false })
      await server.restart()
      await until(isShared(state))
      expect(runs.length).to.equal(2)
      expect(await state.claimInstall(claim('event-1', 'other'))).to.deep.equal({ kind: 'settled', answer: 'kept' })
    })

    it('keeps answering while Redis is killed and started in the middle of many verbs', async () => {
      const state = await open()
      let answers = 0
      let isOver = false
      const callers = times(20, async (caller) => {
        for (let turn = 0; !isOver; turn++) {
          const known = receipt()
          await state.putVisit({ ...known, previous: null })
          await state.learn({ ...known, previous: null }, 'issued')
          expect((await state.activate(known)).kind).to.equal('activated')
          const mine = claim(`event-${caller}-${turn}`)
          expect((await state.claimInstall(mine)).kind).to.equal('first')
          await state.settleInstall({ ...mine, answer: 'mine', receivedAtMs: 0, matched: null })
          expect((await state.countHits([{ key: 'a', limit: 1e9, windowS: 60 }])).kind).to.equal('counted')
          answers++
          await pause(1)
        }
      })
      const running = Promise.all(callers)
      const more = async (count: number): Promise<void> => {
        const before = answers
        await Promise.race([running, until(async () => answers >= before + count)])
      }
      await more(100)
      await server.kill()
      await more(100)
      await server.restart()
      await Promise.race([running, until(isShared(state))])
      await more(100)
      isOver = true
      await running
    })
  })

  describe('while Redis is unreachable', () => {
    it('lets no verb hang on a Redis that hangs', async () => {
      const state = await open()
      const known = receipt()
      await state.learn({ ...known, previous: null }, 'active')
      freeze()
      const outcomes = await Promise.all([
        state.putVisit({ ...receipt(), previous: null }),
        state.activate(receipt()),
        state.receiptStates([known]),
        state.learn({ ...receipt(), previous: null }, 'active'),
        state.claimInstall(claim('event-1')),
        state.settleInstall({ ...claim('event-2'), answer: 'x', receivedAtMs: 0, matched: null }),
        state.releaseInstall(claim('event-3')),
        state.countHits([{ key: 'a', limit: 1, windowS: 60 }]),
        state.addUsage({ organization: 'acme', month: MONTH, quota: 1 }),
        state.returnUsage({ organization: 'other', month: MONTH, quota: 1 }),
        state.readUsage('other', MONTH),
        state.claimJob('job', 'owner', 1_000),
        state.releaseJob('job-2', 'owner'),
      ])
      expect(outcomes[2]).to.deep.equal(['unknown'])
      expect(outcomes[4]).to.deep.equal({ kind: 'first', installation: { kind: 'unknown' }, kept: null, isNew: false })
      expect(outcomes[7]).to.deep.equal({ kind: 'counted', counts: [1] })
      expect(state.health()).to.deep.equal({ isReachable: false, isShared: false })
    })

    it('starts without Redis, and finds it when it comes', async () => {
      await server.kill()
      const state = await open({ times: { connectWaitMs: 200 } })
      expect(state.health()).to.deep.equal({ isReachable: false, isShared: false })
      expect(await state.countHits([{ key: 'a', limit: 1, windowS: 60 }])).to.include({ kind: 'counted' })
      await server.restart()
      await until(isShared(state))
    })

    it('does not count as unreachable because this process itself was stalled', async () => {
      const state = await open({ whenAway: 'reject', times: { probeEveryMs: 60_000 } })
      freeze()
      const counted = state.addUsage({ organization: 'acme', month: MONTH, quota: null })
      // Let the request leave before the standstill, which takes longer than the whole deadline.
      await new Promise((resolve) => setTimeout(resolve, 20))
      const untilMs = performance.now() + SHORT.deadlineMs * 1.1
      while (performance.now() < untilMs);
      server.thaw()
      expect(await counted).to.deep.include({ used: 1 })
    })

    it('keeps every limit at its size, for this process', async () => {
      const state = await open()
      freeze()
      const hits = [
        { key: 'minute', limit: 5, windowS: 60 },
        { key: 'day', limit: 3, windowS: 86_400 },
      ]
      const outcomes = []
      for (let time = 0; time < 6; time++) outcomes.push(await state.countHits(hits))
      expect(outcomes.filter(({ kind }) => kind === 'counted').length).to.equal(3)
      expect(outcomes[3]).to.deep.include({ exceeded: [1], isFirst: true })
      expect(outcomes[4]).to.deep.include({ exceeded: [1], isFirst: false })
    })

    it("continues to count usage from Redis's last figure", async () => {
      const state = await open()
      const usage = { organization: 'acme', month: MONTH, quota: 3 }
      await state.addUsage(usage)
      await state.addUsage(usage)
      freeze()
      expect(await state.addUsage(usage)).to.deep.equal({ used: 3, isOver: false, isFirstOver: false })
      expect(await state.addUsage(usage)).to.deep.equal({ used: 3, isOver: true, isFirstOver: true })
      expect(await state.readUsage('acme', MONTH)).to.equal(3)
    })

    it('activates what facts say was issued, and revokes what it replaces', async () => {
      const state = await open()
      freeze()
      const first = receipt()
      const second = receipt()
      expect(await state.activate(second)).to.deep.equal({ kind: 'unknown' })
      await state.learn({ ...second, previous: first }, 'issued')
      expect(await state.activate(second)).to.deep.equal({ kind: 'activated', revoked: first })
      expect(await state.activate(first)).to.deep.equal({ kind: 'revoked' })
      expect(await state.receiptStates([first, second])).to.deep.equal(['revoked_unseen', 'predecessor_unknown'])
    })

    it('does not say what a revoked receipt had replaced that another process may have activated', async () => {
      const state = await open()
      const first = receipt()
      const second = receipt()
      const third = receipt()
      await state.learn({ ...first, previous: null }, 'active')
      freeze()
      await until(async () => !(await isShared(state)()))
      await state.learn({ ...third, previous: second }, 'active')
      expect(await state.receiptStates([second])).to.deep.equal(['revoked_unseen'])
      await state.learn({ ...second, previous: first }, 'active')
      expect(await state.receiptStates([second])).to.deep.equal(['revoked'])
      // Its own activation went to Redis alone, so this process cannot vouch for what that one had replaced.
      expect(await state.receiptStates([first])).to.deep.equal(['revoked_unseen'])
    })

    it('refuses to activate what facts say is revoked', async () => {
      const state = await open()
      freeze()
      const revoked = receipt()
      await state.learn({ ...revoked, previous: null }, 'revoked')
      expect(await state.activate(revoked)).to.deep.equal({ kind: 'revoked' })
    })

    it('knows a visit of a moment ago, and of an older one asks again', async () => {
      let nowMs = Date.now()
      const state = await open({ clock: () => nowMs })
      const recent = receipt()
      const old = receipt()
      const previous = receipt()
      await state.putVisit({ ...old, previous: null })
      nowMs += 60_000
      await state.putVisit({ ...recent, previous })
      freeze()
      expect(await state.activate(recent)).to.deep.equal({ kind: 'activated', revoked: previous })
      expect(await state.activate(old)).to.deep.equal({ kind: 'unknown' })
      // Facts may know that another process has replaced it since.
      expect(await state.receiptStates([recent])).to.deep.equal(['predecessor_unknown'])
      nowMs += 60_000
      expect(await state.receiptStates([recent])).to.deep.equal(['unknown'])
    })

    it('gives an event to one caller of this process, and a repeat its answer', async () => {
      const state = await open()
      freeze()
      expect(await state.claimInstall(claim('event-1', 'a'))).to.include({ kind: 'first' })
      expect(await state.claimInstall(claim('event-1', 'b'))).to.include({ kind: 'busy' })
      await state.settleInstall({ ...claim('event-1', 'a'), answer: 'ours', receivedAtMs: 0, matched: null })
      expect(await state.claimInstall(claim('event-1', 'b'))).to.deep.equal({ kind: 'settled', answer: 'ours' })
      expect(await state.claimJob('job', 'a', 1_000)).to.equal(true)
      expect(await state.claimJob('job', 'b', 1_000)).to.equal(false)
    })

    it('replays to Redis what happened when it is back, before it reads from it again', async () => {
      const state = await open()
      const other = await open()
      const first = receipt()
      const second = receipt()
      const visit = receipt()
      await state.addUsage({ organization: 'acme', month: MONTH, quota: null })
      freeze()
      await state.learn({ ...second, previous: first }, 'issued')
      await state.activate(second)
      await state.claimInstall(claim('event-1', 'a'))
      await state.settleInstall({
        ...claim('event-1', 'a'),
        answer: 'ours',
        receivedAtMs: 0,
        matched: { ...visit, gpc: true },
      })
      await state.addUsage({ organization: 'acme', month: MONTH, quota: null })
      server.thaw()
      await until(isShared(state))
      await until(isShared(other))
      expect(await other.receiptStates([first, second])).to.deep.equal(['revoked', 'active'])
      expect(await other.claimInstall(claim('event-1', 'b'))).to.deep.equal({ kind: 'settled', answer: 'ours' })
      const next = await other.claimInstall(claim('event-2', 'b'))
      expect(next).to.deep.equal({
        kind: 'first',
        installation: { kind: 'matched', visit: { ...visit, gpc: true } },
        kept: null,
        // Nobody has restored yet what this Redis may have held before.
        isNew: false,
      })
      expect(await other.readUsage('acme', MONTH)).to.be.within(2, 3)
    })

    it('lets a caller settle that was first while Redis was unreachable, even if an earlier one had claimed the event in Redis', async () => {
      const state = await open()
      const other = await open()
      const before = claim('event-1', 'before')
      const first = claim('event-1', 'first')
      await state.claimInstall(before)
      freeze()
      await until(async () => !(await isShared(state)()))
      await state.keepInstall(before, () => 'decided')
      await state.releaseInstall(before)
      expect(await state.claimInstall(first)).to.deep.include({ kind: 'first', kept: 'decided' })
      server.thaw()
      await until(isShared(state))
      await until(isShared(other))
      await state.settleInstall({ ...first, answer: 'pending', isPending: true, receivedAtMs: 1, matched: null })
      expect(await other.claimInstall(claim('event-1', 'repeat'))).to.deep.equal({ kind: 'settled', answer: 'pending' })
      expect(await other.claimInstall(claim('event-2'))).to.deep.include({ installation: { kind: 'pending' } })
    })

    describe('with answers that never reach it', () => {
      const GONE_MS = 1_500
      const whole = async (state: HotState): Promise<void> => {
        const loss = await state.forgotten()
        if (loss !== null) await state.restored(loss)
        expect(await state.forgotten()).to.equal(null)
      }
      /** Once Redis itself has answered that only some answers are missing: while it seems away, a process speaks for itself. */
      const missing = async (state: HotState): Promise<Loss> => {
        let loss: Loss | null = null
        await until(async () => typeof (loss = await state.forgotten())?.sinceMs === 'number')
        return loss ?? NO_LOSS
      }
      const settle = (state: HotState, event: string): Promise<void> =>
        state.settleInstall({ ...claim(event), answer: 'x', receivedAtMs: 1, matched: null })
      const installation = async (state: HotState): Promise<unknown> => {
        const outcome = await state.claimInstall({
          ...claim(`event-${randomBytes(4).toString('hex')}`),
          installationId: 'new',
        })
        if (outcome.kind !== 'first') return outcome
        // What may lack an installation's match may lack the answer to an event as well.
        expect(outcome.isNew).to.equal(outcome.installation.kind === 'none')
        return outcome.installation
      }

      it('knows that answers are missing once a process has died with them, and since when', async () => {
        const state = await open()
        const other = await open({ times: { goneAfterMs: GONE_MS } })
        await whole(other)
        const aloneAtMs = Date.now()
        freeze()
        await until(async () => !(await isShared(state)()) && !(await isShared(other)()))
        const settledAtMs = Date.now()
        await settle(state, 'event-1')
        // It cannot say that it ends, as if it was killed.
        await state.close()
        server.thaw()
        await until(isShared(other))
        // At once: an answer that is wrong by then would be final.
        expect(await installation(other)).to.deep.equal({ kind: 'unknown' })
        const loss = await missing(other)
        expect(loss.sinceMs).to.be.within(aloneAtMs - 60_000, settledAtMs)
        expect(await installation(other)).to.deep.equal({ kind: 'unknown' })
        await other.restored({ ...loss, losses: 'of another time' })
        expect(await other.forgotten()).to.deep.equal(loss)
        await other.restored(loss)
        expect(await other.forgotten()).to.equal(null)
        expect(await installation(other)).to.deep.equal({ kind: 'none' })
      })

      it('knows no installation and no activation for certain until each process was heard again', async () => {
        const state = await open()
        const other = await open()
        await whole(other)
        const known = receipt()
        const replaced = receipt()
        const newer = receipt()
        await state.putVisit({ ...known, previous: null })
        await state.learn({ ...newer, previous: replaced }, 'active')
        expect(await other.receiptStates([known, replaced])).to.deep.equal(['issued', 'revoked'])
        expect(await installation(other)).to.deep.equal({ kind: 'none' })
        await state.settleInstall({
          ...claim('event-1'),
          answer: 'x',
          receivedAtMs: 1,
          matched: { ...known, gpc: false },
        })
        expect(await other.claimInstall(claim('event-2'))).to.include({ kind: 'first', isNew: true })
        freeze()
        await until(async () => !(await isShared(state)()) && !(await isShared(other)()))
        await state.learn({ ...known, previous: null }, 'active')
        await state.close()
        server.thaw()
        await until(isShared(other))
        const unsure: readonly ReceiptStanding[] = ['unknown', 'revoked_unseen']
        expect(await other.receiptStates([known, replaced])).to.deep.equal(unsure)
        expect(await installation(other)).to.deep.equal({ kind: 'unknown' })
        // The installation is known, and yet the event may have been answered by the process that is not heard.
        const sameInstallation = await other.claimInstall(claim('event-3'))
        expect(sameInstallation).to.deep.include({ kind: 'first', isNew: false })
        // Who comes and goes meanwhile changes nothing.
        const third = await open()
        await third.close()
        expect(await other.receiptStates([known, replaced])).to.deep.equal(unsure)
      })

      it('is complete again at once if every process came back and kept nothing', async () => {
        const state = await open()
        const other = await open()
        await whole(other)
        freeze()
        await until(async () => !(await isShared(state)()) && !(await isShared(other)()))
        server.thaw()
        await until(async () => (await isShared(state)()) && (await isShared(other)()))
        await until(async () => JSON.stringify(await installation(other)) === '{"kind":"none"}')
        expect(await other.forgotten()).to.equal(null)
      })

      it('knows it of a process that had too many', async () => {
        const state = await open()
        const other = await open()
        await whole(other)
        freeze()
        await until(async () => !(await isShared(state)()))
        const aloneAtMs = Date.now()
        for (let event = 0; event <= MOST_MESSAGES; event++) await settle(state, `event-${event}`)
        server.thaw()
        await until(isShared(state))
        await until(isShared(other))
        expect((await missing(other)).sinceMs).to.be.within(aloneAtMs - 1_000, Date.now())
      })

      it('restores everything if Redis was restarted before these were restored', async () => {
        const state = await open()
        const other = await open({ times: { goneAfterMs: GONE_MS } })
        await whole(other)
        freeze()
        await until(async () => !(await isShared(state)()))
        await settle(state, 'event-1')
        await state.close()
        server.thaw()
        await until(isShared(other))
        await until(async () => (await other.forgotten()) !== null)
        const before = await other.forgotten()
        await server.kill()
        await server.restart()
        await until(
          async () => (await isShared(other)()) && (await other.forgotten())?.generation !== before?.generation,
        )
        expect((await other.forgotten())?.sinceMs).to.equal(null)
      })

      it('is complete if a process ended that had written everything', async () => {
        const state = await open()
        const other = await open({ times: { goneAfterMs: GONE_MS } })
        await whole(other)
        await settle(state, 'event-1')
        await state.close()
        await pause(2 * GONE_MS)
        expect(await other.forgotten()).to.equal(null)
      })
    })

    it('rejects if it is set to, until Redis is back', async () => {
      const state = await open({ whenAway: 'reject' })
      const known = receipt()
      freeze()
      const failure = await state.learn({ ...known, previous: null }, 'active').then(
        () => null,
        (error: Error) => error,
      )
      expect(failure?.name).to.equal('RedisUnavailable')
      expect(state.health()).to.deep.equal({ isReachable: false, isShared: true })
      server.thaw()
      await until(async () => state.health().isReachable)
      await state.learn({ ...known, previous: null }, 'active')
      expect(await state.receiptStates([known])).to.deep.equal(['active'])
    })

    it('keeps working if Redis is full, and reports why without any content', async () => {
      const reasons: string[] = []
      const state = await open({ news: { onUnreachable: (reason) => reasons.push(reason) } })
      server.cli('config', 'set', 'maxmemory', '1')
      try {
        await state.claimInstall({ ...claim('event-1'), owner: 'an owner of this test' })
        expect(await state.claimInstall(claim('event-1', 'b'))).to.deep.equal({ kind: 'busy' })
        expect(reasons[0]).to.include('OOM').and.to.not.include('an owner of this test')
      } finally {
        server.cli('config', 'set', 'maxmemory', '0')
      }
      await until(isShared(state))
    })

    it('sends no more at once than it may', async () => {
      const state = await open({ maxInFlight: 10, times: { deadlineMs: 5_000 }, whenAway: 'reject' })
      freeze()
      const asked = times(11, () => state.readUsage('acme', MONTH))
      const failure = await asked[10]?.catch((error: Error) => error.message)
      expect(failure).to.equal('too many verbs wait for Redis')
      server.thaw()
      expect((await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled').length).to.equal(10)
    })
  })

  describe('with Sentinel', () => {
    it('follows a failover, and replays to the new server what happened meanwhile', async () => {
      const master = await startRedis({ settings: ['repl-diskless-sync-delay 0'] })
      const replica = await startRedis({ settings: [`replicaof 127.0.0.1 ${master.port}`] })
      const sentinel = await startSentinel('whence', master.port)
      try {
        await until(async () => replica.cli('info', 'replication').includes('master_link_status:up'))
        await until(async () => sentinel.cli('sentinel', 'replicas', 'whence').includes(String(replica.port)))
        const runs: string[] = []
        const address = `redis://127.0.0.1:${sentinel.port}/0?sentinel=whence`
        const state = await open(
          { news: { onNewRun: (run) => runs.push(run) }, times: { connectWaitMs: 5_000 } },
          address,
        )
        const known = issued()
        const meanwhile = issued()
        await state.learn(known, 'active')
        await until(async () => replica.cli('--scan', '--pattern', 'whence:r:*') !== '')
        await master.kill()
        await state.learn(meanwhile, 'issued')
        expect(await state.activate(meanwhile)).to.include({ kind: 'activated' })
        // On a busy machine a call may still be answered without Redis.
        await until(async () => (await state.receiptStates([known, meanwhile])).every((each) => each === 'active'))
        expect(replica.cli('role').split('\n')[0]).to.equal('master')
        expect(runs.length).to.equal(2)
      } finally {
        for (const started of [sentinel, replica, master]) await started.stop()
      }
    }).timeout(60_000)

    it('comes back from a connection that was closed while Sentinel was still being asked', async () => {
      const master = await startRedis()
      const sentinel = await startSentinel('whence', master.port)
      const times = { deadlineMs: 2_000, probeEveryMs: 100 }
      const address = parseRedisUrl(`redis://127.0.0.1:${sentinel.port}/0?sentinel=whence`)
      const client = redisClient(address, times.deadlineMs)
      const ignore = (): void => undefined
      const connection = new RedisConnection(client, {
        prefix: 'whence:',
        times,
        maxInFlight: 10,
        process: null,
        news: { onUnreachable: ignore, onReachable: ignore, onNewRun: ignore },
        onProbed: ignore,
      })
      try {
        await connection.open(10_000)
        expect(connection.isReachable).to.equal(true)
        const ended = new Promise((resolve) => client.once('end', resolve))
        client.once('connecting', () => client.disconnect(true))
        client.disconnect(true)
        await ended
        expect(connection.isReachable).to.equal(false)
        await until(async () => connection.isReachable)
      } finally {
        connection.close()
        for (const started of [sentinel, master]) await started.stop()
      }
    }).timeout(60_000)
  })
})

/** What the hashes of states hold together: entries, how many are flat and how many not, bytes, the longest one. */
function buckets(server: RedisServer): Record<'entries' | 'flat' | 'other' | 'bytes' | 'longest', number> {
  const script = `
    local entries, flat, other, bytes, longest = 0, 0, 0, 0, 0
    for _, name in ipairs(redis.call('KEYS', 'whence:r:*')) do
      local length = redis.call('HLEN', name)
      entries = entries + length
      longest = math.max(longest, length)
      bytes = bytes + redis.call('MEMORY', 'USAGE', name)
      if redis.call('OBJECT', 'ENCODING', name) == 'listpack' then flat = flat + 1 else other = other + 1 end
    end
    return { entries, flat, other, bytes, longest }`
  const [entries = 0, flat = 0, other = 0, bytes = 0, longest = 0] = server
    .cli('eval', script, '0')
    .split('\n')
    .map(Number)
  return { entries, flat, other, bytes, longest }
}

const GRACE_MS = 60_000
const DAY_MS = 86_400_000

/** Until when, or for how long, what lies under a key is to be kept. The numbers are those of docs/redis.md. */
function expectedLife(key: string): { readonly untilMs: number } | { readonly forMs: readonly number[] } {
  const [, kind, ...rest] = key.split(':')
  const number = (place: number): number => Number(rest.at(place))
  switch (kind) {
    case 'h': // A window ends with the clock.
      return { untilMs: (number(-1) + 1) * number(-2) * 1_000 }
    case 'r': // A day's states outlive its last receipt, which lives for 30 days, by what clocks differ.
      return { untilMs: (number(0) + 31) * DAY_MS + 5 * 60_000 - GRACE_MS }
    case 'i': // Receipts that were only issued: an hour.
      return { forMs: [3_600_000 + GRACE_MS] }
    case 'e': // Claims: five seconds; answers: 31 days.
      return { forMs: [5_000 + GRACE_MS, 31 * DAY_MS + GRACE_MS] }
    case 'v': // The visit of an installation, as long as its answer.
      return { forMs: [31 * DAY_MS + GRACE_MS] }
    case 'u': // A month's usage: two years.
      return { forMs: [2 * 366 * DAY_MS] }
    case 'j': // A job: as long as its worker asked for.
      return { forMs: [30_000 + GRACE_MS] }
    default:
      throw new Error(`nobody knows how long ${key} is to be kept`)
  }
}

/** Keys and when they expire; of keys that hold bytes, only what kind they are. */
function expiries(server: RedisServer): { readonly key: string; readonly expiresAtMs: number }[] {
  const script = `
    local lines = {}
    for _, key in ipairs(redis.call('KEYS', 'whence:?:*')) do
      local name = string.match(key, '^whence:[hr]:[%w:.-]+$') or string.sub(key, 1, 8)
      lines[#lines + 1] = name .. ' ' .. string.format('%.0f', redis.call('PEXPIRETIME', key))
    end
    return lines`
  return server
    .cli('eval', script, '0')
    .split('\n')
    .map((line) => {
      const [key = '', expiresAtMs = ''] = line.split(' ')
      return { key, expiresAtMs: Number(expiresAtMs) }
    })
}

/** Redis counts whole milliseconds, and sets an expiry by the clock of its command. */
function isWithin(ms: number, fromMs: number, toMs: number): boolean {
  return ms >= fromMs - 2 && ms <= toMs + 2
}

function redisMs(server: RedisServer): number {
  const [seconds = 0, micros = 0] = server.cli('time').split('\n').map(Number)
  return seconds * 1_000 + Math.floor(micros / 1_000)
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

/** Its visit ID carries its issue time, as real ones do. */
function receipt(): ReceiptRef {
  const issuedAtMs = Date.now()
  const visitId = `01${issuedAtMs.toString(16).padStart(12, '0')}${randomBytes(9).toString('hex')}`
  return { organization: 'acme', website: WEBSITE, visitId, issuedAtMs }
}

function issued(known: ReceiptRef = receipt(), previous: ReceiptRef | null = null): IssuedReceipt {
  return { ...known, previous }
}

/** Receipts whose states belong into the same first hash of a day. */
function receiptsOfOneBucket(count: number): readonly ReceiptRef[] {
  const start = receipt()
  const found: ReceiptRef[] = []
  for (let number = 0; found.length < count; number++) {
    const visitId = start.visitId.slice(0, -8) + number.toString(16).padStart(8, '0')
    if (receiptId({ ...start, visitId }).readUInt16BE(8) >> 4 === 0) found.push({ ...start, visitId })
  }
  return found
}

function claim(eventId: string, owner = 'owner'): Claim {
  return { organization: 'acme', website: WEBSITE, eventId, installationId: 'installation-1', owner }
}
