/** Log streams on the real log, the real engine and a real receiver: everything arrives, in order, and nothing is hidden. */

import { expect } from 'chai'

import type { ProgressStore } from '../../../delivery/streams/progress-store.ts'
import { webhookSender, type StreamSender } from '../../../delivery/streams/sender.ts'
import type { LogStream } from '../../../domain/catalog.ts'
import type { LogRecord } from '../../../domain/records.ts'
import { commandEntry, streamSubject, type StreamCommand } from '../../../domain/streams/commands.ts'
import { activityRecord, attempt, deliveryRecord, requestRecord, unique } from '../../contract/fact-samples.ts'
import { hostileUrls } from '../outbound/hostile.ts'
import { KEYS, Receiver, SECRET, type ReceivedRecord } from './receiver.ts'
import { Stage, STREAM, type Actor } from './stage.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const POINTS = [
  'before its plan is stored',
  'after its plan is stored',
  'before the batch leaves',
  'after the batch arrived',
  'before it is stored as done',
] as const

/** Of a message as the receiver keeps it. */
const isGzip = (message: string): boolean => message.split(' ')[1]?.startsWith('H4sI') ?? false

describe('a log stream', function () {
  this.timeout(120_000)
  let stage: Stage
  let receiver: Receiver
  let organization: string

  before(async () => {
    stage = await Stage.open()
  })
  after(() => stage.close())
  beforeEach(async () => {
    receiver = await Receiver.open()
    organization = unique('organization')
    stage.nowMs = Date.now()
  })
  afterEach(async () => {
    expect(receiver.faults).to.deep.equal([])
    await receiver.close()
  })

  const request = (changes = {}): LogRecord =>
    requestRecord({ organization, website: 'acme', receivedAtMs: Date.now(), ...changes })
  const requests = (count: number, changes = {}): LogRecord[] => Array.from({ length: count }, () => request(changes))
  const idsOf = (records: readonly LogRecord[]): string[] =>
    records.flatMap((record) => ('request' in record ? [record.request.id] : []))
  const inbound = (records: readonly ReceivedRecord[]): string[] =>
    records.filter((record) => record['direction'] === 'inbound').map(({ id }) => id)
  /** Registered, and its address has proven itself. */
  const begun = async (actor: Actor): Promise<Actor> => {
    await stage.settle(actor)
    return actor
  }
  const order = (command: StreamCommand, atMs = stage.nowMs): LogRecord =>
    activityRecord({
      organization,
      atMs,
      id: unique('order'),
      subject: streamSubject(STREAM.id),
      ...commandEntry(command, 'p_1'),
    })
  const state = async () =>
    (await stage.facts.run('streamStates', {})).find((each) => each.organization === organization)

  it('sends each request and each attempt as Logs show them, in the order of the log, once its address has proven itself', async () => {
    const actor = await begun(stage.actor({ organization, receiver }))
    expect([receiver.verifications, receiver.records.length]).to.deep.equal([1, 0])
    const asked = [request({ status: 404, code: 'not_found', body: '{"a":1}' }), ...requests(3)]
    await stage.write('requests', [...asked, requestRecord({ organization: 'somebody-else' })])
    await stage.write('deliveries', [deliveryRecord({ organization, attempt: attempt({ startedAtMs: Date.now() }) })])
    await stage.settle(actor)
    expect(inbound(receiver.records)).to.deep.equal(idsOf(asked))
    expect(receiver.records.find(({ id }) => id === idsOf(asked)[0])).to.include({ status: 404, body: '{"a":1}' })
    expect(receiver.records.filter((record) => record['direction'] === 'outbound')).to.have.lengthOf(1)
    expect(await state()).to.include({ state: 'Delivering', delivered: 5, dropped: 0 })
  })

  it('sends nothing to an address that does not return the challenge, and asks again', async () => {
    const actor = stage.actor({ organization, receiver })
    receiver.mood = 'does not return the challenge'
    await stage.settle(actor)
    await stage.write('requests', requests(2))
    await stage.settle(actor)
    expect(receiver.records).to.deep.equal([])
    expect(await state()).to.include({ state: 'NotVerified', last_error: 'challenge_not_returned' })
    receiver.mood = 'takes'
    stage.nowMs += 2 * HOUR_MS
    await stage.settle(actor)
    expect(receiver.records).to.have.lengthOf(2)
  })

  it('sends fewer records at once to a receiver that refuses a size, more again later, and drops what it never takes', async () => {
    const actor = await begun(stage.actor({ organization, receiver }))
    const small = requests(40)
    const large = request({ body: 'x'.repeat(9_000) })
    await stage.write('requests', [...small.slice(0, 20), large, ...small.slice(20)])
    receiver.mostBytes = 4_000
    await stage.settle(actor)
    expect(await state()).to.include({ state: 'Failing', last_error: 'http_413', dropped: 0 })
    const before = inbound(receiver.records).length
    expect(before).to.equal(20)
    for (let tries = 1; tries < 6; tries += 1) {
      expect(await state(), `after ${tries}`).to.include({ dropped: 0 })
      stage.nowMs += 0.75 * HOUR_MS
      await stage.settle(actor)
    }
    expect(inbound(receiver.records)).to.deep.equal(idsOf(small))
    const gaps = receiver.records.filter(({ type }) => type === 'gap')
    expect(gaps.map(({ reason, dropped }) => [reason, dropped])).to.deep.equal([['too_large', 1]])
    expect(actor.told).to.include.members(['stream_too_large 1', 'dropped too_large 1'])
    expect(await state()).to.include({ state: 'Delivering', delivered: 40, dropped: 1 })
    // The receiver takes larger ones now: after enough batches they become larger again.
    receiver.mostBytes = Infinity
    await stage.write('requests', requests(450))
    await stage.settle(actor, 600)
    expect(inbound(receiver.records)).to.have.lengthOf(490)
    const asBefore = receiver.ids.length
    await stage.write('requests', requests(100))
    await stage.settle(actor, 600)
    expect(inbound(receiver.records)).to.have.lengthOf(590)
    expect(receiver.ids.length - asBefore).to.be.lessThan(10)
  })

  for (const mood of [500, 410, 'redirects'] as const)
    it(`keeps everything while a receiver answers ${mood}, reports it, and is never switched off`, async () => {
      const actor = await begun(stage.actor({ organization, receiver }))
      await stage.write('requests', requests(3))
      receiver.mood = mood
      for (let tries = 0; tries < 5; tries += 1) {
        stage.nowMs += 1.3 * HOUR_MS
        await stage.settle(actor)
      }
      const error = mood === 'redirects' ? 'http_307' : `http_${mood}`
      expect(await state()).to.include({ state: 'Failing', last_error: error, delivered: 0, dropped: 0, behind: 3 })
      expect(actor.told).to.include(`stream_failing ${error}`)
      receiver.mood = 'takes'
      stage.nowMs += 1.3 * HOUR_MS
      await stage.settle(actor)
      expect(inbound(receiver.held())).to.have.lengthOf(3)
      expect(await state()).to.include({ state: 'Delivering', delivered: 3, last_error: '' })
    })

  it('gives up a call that hangs after its time limit, and sends the same again under the same ID', async () => {
    const actor = await begun(stage.actor({ organization, receiver, callMs: 300 }))
    await stage.write('requests', requests(3))
    receiver.mood = 'hangs'
    await stage.settle(actor)
    expect(await state()).to.include({ state: 'Failing', last_error: 'timeout' })
    receiver.mood = 'takes'
    stage.nowMs += HOUR_MS
    await stage.settle(actor)
    expect(receiver.ids).to.have.lengthOf(1)
  })

  it('tries at once after its secret or its address was changed, and proves a new address first', async () => {
    const actor = await begun(stage.actor({ organization, receiver }))
    await stage.write('requests', requests(1))
    receiver.mood = 401
    await stage.settle(actor)
    await stage.settle(actor)
    expect(receiver.records).to.deep.equal([])
    receiver.mood = 'takes'
    actor.inForce = {
      ...actor.inForce,
      target: { kind: 'webhook', url: 'https://hooks.acme.dev/other', ...KEYS },
    }
    await stage.settle(actor)
    expect([receiver.verifications, receiver.records.length]).to.deep.equal([2, 1])
  })

  it('signs with the secret before too, until its time is over', async () => {
    const actor = await begun(stage.actor({ organization, receiver }))
    const previousUntilMs = stage.nowMs + HOUR_MS
    const rotated = { secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', previous: SECRET, previousUntilMs }
    actor.inForce = { ...actor.inForce, target: { ...actor.inForce.target, ...rotated } }
    await stage.write('requests', requests(1))
    await stage.settle(actor)
    expect([receiver.records.length, receiver.faults]).to.deep.equal([1, []])
    stage.nowMs = previousUntilMs
    await stage.write('requests', requests(1))
    await stage.settle(actor)
    expect(receiver.faults).to.deep.equal(['signature'])
    receiver.faults.length = 0
  })

  it('sends what its filter and its form say, compressed on request', async () => {
    const filter = { websites: ['acme'], kinds: ['request'], minStatus: 400 }
    const actor = await begun(
      stage.actor({ organization, receiver, stream: { filter, includeBodies: false, compress: true } }),
    )
    const wanted = request({ status: 429, body: 'a body' })
    await stage.write('requests', [...requests(3), wanted, request({ status: 500, website: 'other' })])
    await stage.settle(actor)
    expect(inbound(receiver.records)).to.deep.equal(idsOf([wanted]))
    expect(receiver.records[0]).not.to.have.property('body')
  })

  for (const compress of [true, false])
    it(`sends a batch again with the same bytes if it is ${compress ? 'no longer ' : ''}to be compressed since`, async () => {
      const actor = await begun(stage.actor({ organization, receiver, callMs: 300, stream: { compress } }))
      await stage.write('requests', requests(3))
      receiver.mood = 'hangs'
      await stage.settle(actor)
      actor.inForce = { ...actor.inForce, stream: { ...actor.inForce.stream, compress: !compress } }
      actor.restart()
      receiver.mood = 'takes'
      stage.nowMs += HOUR_MS
      await stage.settle(actor)
      const [, first, again, ...others] = receiver.messages
      expect([again, others]).to.deep.equal([first, []])
      await stage.write('requests', requests(1))
      await stage.settle(actor)
      expect(receiver.messages.map(isGzip)).to.deep.equal([false, compress, compress, !compress])
    })

  it('sends in its new form, under another ID, a batch that the receiver refuses in the one before', async () => {
    const actor = await begun(stage.actor({ organization, receiver, stream: { compress: true } }))
    const wanted = requests(3)
    await stage.write('requests', wanted)
    receiver.mood = 415
    await stage.settle(actor)
    actor.inForce = { ...actor.inForce, stream: { ...actor.inForce.stream, compress: false } }
    stage.nowMs += HOUR_MS
    receiver.onMessage = () => (receiver.mood = receiver.messages.length === 3 ? 415 : 'takes')
    await stage.settle(actor)
    const [, first, again, anew = '', ...others] = receiver.messages
    expect([again, others]).to.deep.equal([first, []])
    expect([anew.split(' ')[0] === first?.split(' ')[0], isGzip(anew)]).to.deep.equal([false, false])
    expect(inbound(receiver.records)).to.deep.equal(idsOf(wanted))
    expect(await state()).to.include({ state: 'Delivering', delivered: 3, dropped: 0 })
  })

  it('sends nothing while it is paused, and everything afterwards', async () => {
    const actor = await begun(stage.actor({ organization, receiver }))
    actor.inForce = { ...actor.inForce, stream: { ...actor.inForce.stream, isPaused: true } }
    await stage.write('requests', requests(4))
    await stage.settle(actor)
    expect([receiver.records.length, (await state())?.state]).to.deep.equal([0, 'Paused'])
    actor.inForce = { ...actor.inForce, stream: { ...actor.inForce.stream, isPaused: false } }
    await stage.settle(actor)
    expect(receiver.records).to.have.lengthOf(4)
  })

  it('counts what it drops while it is paused', async () => {
    const actor = await begun(stage.actor({ organization, receiver }))
    actor.inForce = { ...actor.inForce, stream: { ...actor.inForce.stream, isPaused: true } }
    await stage.write('requests', [...requests(3, { receivedAtMs: Date.now() - 7.5 * 24 * HOUR_MS }), ...requests(2)])
    stage.nowMs += 120_000
    await stage.settle(actor)
    expect(await state()).to.include({ state: 'Paused', behind: 2, dropped: 3 })
    actor.inForce = { ...actor.inForce, stream: { ...actor.inForce.stream, isPaused: false } }
    await stage.settle(actor)
    expect(receiver.records[0]).to.include({ type: 'gap', reason: 'overflow', dropped: 3 })
    expect(inbound(receiver.records)).to.have.lengthOf(2)
  })

  it('skips to now when a person orders it, counts the records, and reports that in the stream', async () => {
    const actor = await begun(stage.actor({ organization, receiver }))
    receiver.mood = 503
    await stage.write('requests', requests(600))
    await stage.settle(actor)
    await stage.write('activity', [order({ kind: 'skip' })])
    stage.nowMs += HOUR_MS
    await stage.settle(actor)
    receiver.mood = 'takes'
    stage.nowMs += 2 * HOUR_MS
    await stage.settle(actor)
    const later = requests(1)
    await stage.write('requests', later)
    await stage.settle(actor)
    expect(receiver.records.filter(({ type }) => type === 'gap')).to.have.lengthOf(1)
    expect(receiver.records[0]).to.include({ type: 'gap', reason: 'skipped', dropped: 600 })
    expect(inbound(receiver.records)).to.deep.equal(idsOf(later))
    expect(await state()).to.include({ delivered: 1, dropped: 600 })
    expect(actor.told).to.include('dropped skipped 600')
  })

  it('sends again what came since a time, as new batches', async () => {
    const actor = await begun(stage.actor({ organization, receiver }))
    const old = requests(2, { receivedAtMs: Date.now() - HOUR_MS })
    const young = requests(2)
    await stage.write('requests', [...old, ...young])
    await stage.settle(actor)
    await stage.write('activity', [order({ kind: 'resend', sinceMs: Date.now() - HOUR_MS / 2 })])
    stage.nowMs += 10_000
    await stage.settle(actor)
    expect(inbound(receiver.records)).to.deep.equal(idsOf([...old, ...young, ...young]))
    expect(new Set(receiver.ids).size).to.equal(receiver.ids.length)
  })

  it('sends a test when a person orders it, once, and keeps what was answered', async () => {
    const actor = await begun(stage.actor({ organization, receiver }))
    await stage.write('activity', [order({ kind: 'test' })])
    for (let round = 0; round < 3; round += 1) {
      stage.nowMs += 10_000
      await stage.settle(actor)
    }
    expect(receiver.records.map(({ type }) => type)).to.deep.equal(['test'])
    const [row] = await stage.facts.run('streamProgress', { organization, stream: STREAM.id })
    const { sent } = JSON.parse(row?.progress ?? '{}') as { sent: readonly { kind: string; status: number }[] }
    expect(sent[0]).to.include({ kind: 'test', status: 204 })
  })

  for (const when of ['while it is served', 'while no process serves it'] as const)
    it(`begins anew if its object was deleted and made again ${when}: neither its plan nor its counts go on`, async () => {
      const actor = await begun(stage.actor({ organization, receiver, stream: { uid: 'one' } }))
      const madeAgain = (changes: Partial<LogStream>): void => {
        actor.inForce = { ...actor.inForce, stream: { ...actor.inForce.stream, ...changes } }
        if (when !== 'while it is served') actor.restart()
        stage.nowMs += 2 * HOUR_MS
      }
      const first = requests(2)
      const second = requests(3)
      const third = requests(4)
      await stage.write('requests', first)
      await stage.settle(actor)
      receiver.mood = 503
      await stage.write('requests', second)
      await stage.settle(actor)
      expect(await state()).to.include({ state: 'Failing', delivered: 2, behind: 3 })
      receiver.mood = 'takes'
      madeAgain({ uid: 'two', startFrom: 'Now' })
      await stage.settle(actor)
      await stage.write('requests', third)
      await stage.settle(actor)
      expect(inbound(receiver.records), 'without the plan of the one before').to.deep.equal(idsOf([...first, ...third]))
      expect(await state()).to.include({ state: 'Delivering', delivered: 4, behind: 0, last_error: '' })
      const idsBefore = receiver.ids.length
      madeAgain({ uid: 'three', startFrom: 'Backlog' })
      await stage.settle(actor)
      expect(inbound(receiver.records.slice(6))).to.deep.equal(idsOf([...first, ...second, ...third]))
      expect(receiver.ids.slice(0, idsBefore)).not.to.include(receiver.ids.at(-1))
      expect(await state()).to.include({ delivered: 9 })
      madeAgain({ uid: '' })
      await stage.settle(actor)
      expect(await state(), 'its file has no UID any more').to.include({ delivered: 9 })
      expect(receiver.verifications).to.equal(3)
    })

  it('goes on if its object gets a UID that it did not have', async () => {
    const actor = await begun(stage.actor({ organization, receiver }))
    receiver.mood = 503
    const waiting = requests(2)
    await stage.write('requests', waiting)
    await stage.settle(actor)
    receiver.mood = 'takes'
    actor.inForce = { ...actor.inForce, stream: { ...actor.inForce.stream, uid: 'one' } }
    actor.restart()
    stage.nowMs += 2 * HOUR_MS
    await stage.settle(actor)
    expect(inbound(receiver.records)).to.deep.equal(idsOf(waiting))
    const [row] = await stage.facts.run('streamProgress', { organization, stream: STREAM.id })
    expect(JSON.parse(row?.progress ?? '{}')).to.include({ uid: 'one', delivered: 2 })
  })

  it('carries out a command that becomes visible after a later one, each once, also after a restart', async () => {
    const actor = await begun(stage.actor({ organization, receiver }))
    const registeredAtMs = stage.nowMs
    const round = async (): Promise<number> => {
      stage.nowMs += 10_000
      await stage.settle(actor)
      return receiver.records.filter(({ type }) => type === 'test').length
    }
    stage.nowMs += HOUR_MS
    await stage.write('activity', [order({ kind: 'test' })])
    expect(await round()).to.equal(1)
    await stage.write('activity', [order({ kind: 'test' }, stage.nowMs - 540_000)])
    await stage.write('activity', [order({ kind: 'test' }, stage.nowMs - HOUR_MS / 5)])
    expect(await round(), 'nine minutes before, not twelve').to.equal(2)
    actor.restart()
    expect(await round()).to.equal(2)
    await stage.write('activity', [order({ kind: 'test' })])
    expect(await round()).to.equal(3)
    await stage.write('activity', [order({ kind: 'test' }, registeredAtMs - 1_000)])
    expect(await round(), 'before there was such a stream').to.equal(3)
  })

  it('continues in a new lane after the log was lost, and says that records may be missing', async () => {
    const actor = await begun(stage.actor({ organization, receiver }))
    const before = requests(5)
    await stage.write('requests', before)
    await stage.settle(actor)
    await stage.loseLog()
    actor.restart()
    const after = requests(2)
    await stage.write('requests', after)
    await stage.settle(actor)
    expect(inbound(receiver.records)).to.deep.equal(idsOf([...before, ...after]))
    expect(receiver.records.filter(({ type }) => type === 'gap')).to.have.lengthOf(1)
    expect(receiver.records.find(({ type }) => type === 'gap')).to.include({ reason: 'log_renewed', dropped: null })
    expect(actor.told).to.include('stream_log_renewed ')
  })

  it('drops what is older than seven days, the oldest first: delivered and dropped are what was written', async () => {
    const actor = await begun(stage.actor({ organization, receiver }))
    receiver.mood = 503
    const old = requests(7, { receivedAtMs: Date.now() - 7.5 * 24 * HOUR_MS })
    const young = requests(4)
    await stage.write('requests', [...old, ...young])
    stage.nowMs += 120_000
    await stage.settle(actor)
    receiver.mood = 'takes'
    stage.nowMs += 2 * HOUR_MS
    await stage.settle(actor)
    expect(inbound(receiver.records)).to.deep.equal(idsOf(young))
    expect(receiver.records.find(({ type }) => type === 'gap')).to.include({ reason: 'overflow', dropped: 7 })
    expect(await state()).to.include({ delivered: 4, dropped: 7 })
    expect(actor.told).to.include.members(['stream_overflow 7', 'dropped overflow 7'])
  })

  it('drops what has become older than seven days in a batch that is refused, and nothing else of that batch', async () => {
    const actor = await begun(stage.actor({ organization, receiver }))
    receiver.mood = 503
    const begunMs = stage.nowMs
    const writtenAfter = async (days: number): Promise<LogRecord[]> => {
      stage.nowMs = begunMs + days * DAY_MS
      const records = requests(2, { receivedAtMs: stage.nowMs })
      await stage.write('requests', records)
      await stage.settle(actor)
      return records
    }
    const first = await writtenAfter(0)
    const second = await writtenAfter(1)
    const third = await writtenAfter(3)
    // The first two are dropped, and the next four are in one batch.
    const last = await writtenAfter(7.1)
    stage.nowMs = begunMs + 8.5 * DAY_MS
    await stage.settle(actor)
    expect(await state()).to.include({ dropped: first.length + second.length, behind: third.length + last.length })
    receiver.mood = 'takes'
    stage.nowMs += 2 * HOUR_MS
    await stage.settle(actor)
    expect(inbound(receiver.records)).to.deep.equal(idsOf([...third, ...last]))
    const gap = receiver.records.find(({ reason }) => reason === 'overflow')
    expect(gap).to.include({ type: 'gap', dropped: 4, from: new Date(begunMs).toISOString() })
    expect(await state()).to.include({ delivered: 4, dropped: 4, behind: 0 })
  })

  describe('killed at any of five points', () => {
    for (const [seed, point] of POINTS.entries())
      it(`${point}: a consumer that tells records by ID holds each once, in order, and batches sent again are the same`, async () => {
        const kills = killsAt(point, seed)
        const actor = await begun(stage.actor({ organization, receiver, ...kills }))
        const first = requests(700)
        const second = requests(40)
        await stage.write('requests', first)
        kills.arm()
        await stage.settle(actor)
        await stage.write('requests', second)
        await stage.settle(actor)
        expect(kills.count()).to.be.greaterThan(0)
        expect(inbound(receiver.held())).to.deep.equal(idsOf([...first, ...second]))
        for (const [id, bodies] of receiver.bodies) expect(new Set(bodies).size, id).to.equal(1)
        expect(await state()).to.include({ delivered: 740, dropped: 0 })
      })
  })

  it('calls no hostile address', async () => {
    const dialled: string[] = []
    const dial = (address: string): never => {
      dialled.push(address)
      throw new Error('dialled')
    }
    const urls = hostileUrls(1)
    expect(new Set(urls).size).to.be.at.least(250)
    for (const url of urls) {
      const parts = { stream: 'acme-logs', compress: false, outbound: receiver.outbound({ dial }), nowMs: Date.now }
      const { outcome } = await webhookSender({ ...parts, target: { kind: 'webhook', url, ...KEYS } }).verify(
        'challenge',
      )
      expect(outcome, url).to.deep.include({ isTaken: false, isLasting: true, error: 'address_refused' })
    }
    expect(dialled).to.deep.equal([])
  })
})

/** Throws at one point of some batches, by a seeded choice; whoever catches it starts a new process. */
function killsAt(point: (typeof POINTS)[number], seed: number) {
  let count = 0
  let isArmed = false
  let dice = seed + 1
  const strike = (at: (typeof POINTS)[number]): void => {
    if (!isArmed || at !== point || count >= 5) return
    dice = (dice * 48_271) % 2_147_483_647
    if (count > 0 && dice % 2 === 0) return
    count += 1
    throw new Error('killed')
  }
  const store = (own: ProgressStore): ProgressStore => ({
    load: own.load,
    save: async (progress, standing) => {
      const isPlan = progress.plan !== null
      strike(isPlan ? 'before its plan is stored' : 'before it is stored as done')
      await own.save(progress, standing)
      if (isPlan) strike('after its plan is stored')
    },
  })
  const sender = (own: StreamSender): StreamSender => ({
    ...own,
    pack: (plan, records) => async () => {
      strike('before the batch leaves')
      const sent = await own.pack(plan, records)()
      strike('after the batch arrived')
      return sent
    },
  })
  return { store, sender, arm: () => void (isArmed = true), count: () => count }
}
