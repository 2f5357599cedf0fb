/** An event that the hot state does not know after a loss: whether it was reported before is found in the facts and on the log. */

import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { expect } from 'chai'
import { middayClock } from '../../fixtures/clocks.ts'

import type { ApiDeps } from '../../api/deps.ts'
import { earlierReports } from '../../api/collection/repeats/earlier-report.ts'
import type { Offsets } from '../../domain/collection/facts-lag.ts'
import { encodeRecord } from '../../domain/records.ts'
import type { Newest } from '../../ports/event-log/event-log.ts'
import { installOf, NOON_MS, recordOf } from '../../fixtures/delivery/builders.ts'
import { eventBody, startApi, type Api } from './support/api.ts'

const WEBSITE = 'acme-dev'

function entryOf(eventId: string, offset: number, more: Parameters<typeof installOf>[0] = {}) {
  const install = installOf({ ...more, overrides: { ...more.overrides, eventId, website: WEBSITE } })
  return { key: eventId, value: encodeRecord(recordOf(install)), offset, appendedAtMs: NOON_MS }
}

/** A log with one partition, and facts that have written it up to an offset. */
class Parts {
  log: ReturnType<typeof entryOf>[] = []
  done: Offsets = [0]
  ends: Offsets | null = null
  row: object | Error | 'silent' | undefined = undefined
  readonly steps: string[] = []
  readonly warnings: unknown[] = []

  readonly deps = {
    eventLog: {
      progress: async () => {
        this.steps.push('progress')
        return { done: this.done, ends: this.ends ?? [this.log.length] }
      },
      readLast: (_topic: string, newest: Newest) => this.#read(newest),
    },
    facts: {
      run: async (query: string, params: { readonly event_ids: readonly string[] }) => {
        this.steps.push(`${query} ${params.event_ids.join()}`)
        if (this.row === 'silent') return new Promise(() => undefined)
        if (this.row instanceof Error) throw this.row
        return this.row === undefined ? [] : [this.row]
      },
    },
    metrics: { lookup: () => undefined },
    logger: { ...SILENT_LOGGER, warn: (...words: unknown[]) => void this.warnings.push(words) },
  } as unknown as ApiDeps

  async *#read(newest: Newest) {
    const [from] = 'from' in newest ? newest.from : []
    this.steps.push(`read from ${from}`)
    const entries = this.log.slice(from ?? 0)
    if (entries.length > 0) yield entries
  }
}

describe('an earlier report of an event', () => {
  let parts: Parts
  let find: (eventId: string) => ReturnType<ReturnType<typeof earlierReports>>
  beforeEach(() => {
    parts = new Parts()
    const reports = earlierReports(parts.deps)
    find = (eventId) => reports({ organization: 'acme', website: WEBSITE, eventId })
  })
  const found = async (eventId: string): Promise<string | undefined> => {
    const known = await find(eventId)
    return known === null ? undefined : known.eventId
  }

  it('is found in the facts, whose position was read before', async () => {
    parts.row = {
      organization: 'acme',
      website: WEBSITE,
      event_id: 'one',
      installation_id: 'i',
      received_at_ms: 5,
      answer: '{}',
      resolution: 'unmatched',
      visit_id: '',
      visit_issued_at_ms: null,
      gpc: false,
    }
    expect(await find('one')).to.deep.equal({
      organization: 'acme',
      website: WEBSITE,
      eventId: 'one',
      installationId: 'i',
      receivedAtMs: 5,
      answer: '{}',
      matched: null,
      isPending: false,
    })
    expect(parts.steps).to.deep.equal(['progress', 'settledInstalls one'])
  })

  it('is found on the log while the facts do not have it yet, and a new event is not', async () => {
    parts.log = [entryOf('zero', 0), entryOf('one', 1), entryOf('two', 2)]
    parts.done = [1]
    expect(await found('two')).to.equal('two')
    expect(await found('new')).to.equal(undefined)
    expect(parts.steps.filter((step) => step.startsWith('read'))).to.deep.equal(['read from 1'])
    expect(parts.warnings).to.deep.equal([])
  })

  it('is found on the log if it came there after others were looked for, which are not read again', async () => {
    parts.log = [entryOf('one', 0)]
    expect(await found('two')).to.equal(undefined)
    parts.log.push(entryOf('two', 1))
    expect([await found('two'), await found('one')]).to.deep.equal(['two', 'one'])
    // What the facts have got meanwhile is not read.
    parts.log.push(entryOf('three', 2), entryOf('four', 3))
    parts.done = [3]
    expect(await found('four')).to.equal('four')
    expect(parts.steps.filter((step) => step.startsWith('read'))).to.deep.equal([
      'read from 0',
      'read from 1',
      'read from 3',
    ])
  })

  it('is the first of several on the log', async () => {
    parts.log = [
      entryOf('one', 0, { overrides: { receivedAtMs: 7 } }),
      entryOf('one', 1, { overrides: { receivedAtMs: 8 } }),
    ]
    expect(await find('one')).to.include({ receivedAtMs: 7 })
  })

  it('is told as pending if it was', async () => {
    parts.log = [entryOf('one', 0, { overrides: { resolution: 'pending' } })]
    expect(await find('one')).to.include({ isPending: true })
  })

  const DOUBTS: readonly [string, () => void][] = [
    ['the end of a partition is not known', () => void (parts.ends = [null])],
    ['the position of the facts is not known', () => void (parts.done = [null])],
    ['nothing is known of the topic', () => void (parts.ends = [])],
    ['the facts are too far behind to be made up for', () => void (parts.ends = [1_000_000])],
    ['the facts are away', () => void (parts.row = new Error('away'))],
  ]
  for (const [what, break_] of DOUBTS)
    it(`cannot be looked for while ${what}, which is logged`, async () => {
      parts.log = [entryOf('one', 0)]
      break_()
      expect(await found('one')).to.equal(undefined)
      expect(parts.warnings.length).to.equal(1)
    })

  it('is looked for with all others that wait, in one round after the one that runs', async () => {
    parts.log = [entryOf('two', 0)]
    const asked = ['one', 'two', 'three'].map(found)
    expect(await Promise.all(asked)).to.deep.equal([undefined, 'two', undefined])
    expect(parts.steps).to.deep.equal([
      'progress',
      'settledInstalls one',
      'read from 0',
      'progress',
      'settledInstalls two,three',
    ])
    await Promise.all(Array.from({ length: 1_200 }, (_, number) => find(`other ${number}`)))
    const sizes = parts.steps
      .filter((step) => step.startsWith('settledInstalls other'))
      .map((step) => step.split(',').length)
    expect(sizes).to.deep.equal([1, 500, 500, 199])
  })

  it('is not looked for in the round after its request has given up', async () => {
    parts.row = 'silent'
    expect(await Promise.all([found('one'), found('two')])).to.deep.equal([undefined, undefined])
    expect(parts.steps).to.deep.equal(['progress', 'settledInstalls one'])
  })

  it('is looked for a second at most', async () => {
    parts.row = 'silent'
    expect(await found('one')).to.equal(undefined)
    expect(String((parts.warnings[0] as [{ err: Error }])[0].err)).to.contain('no answer within 1000 ms')
  })
})

describe('a repeat after the hot state has lost what it held', () => {
  let api: Api
  afterEach(() => api.stop())

  /** What was answered so far is forgotten, as by a Redis that was emptied. */
  const lose = (): void => {
    const { hotState } = api.service
    const claimInstall = hotState.claimInstall.bind(hotState)
    const settleInstall = hotState.settleInstall.bind(hotState)
    const decideInstall = hotState.decideInstall.bind(hotState)
    const learnt = new Map<string, string>()
    hotState.claimInstall = async (claim) => {
      const answer = learnt.get(claim.eventId)
      if (answer !== undefined) return { kind: 'settled', answer }
      const outcome = await claimInstall({ ...claim, eventId: `${claim.eventId} after the loss` })
      return outcome.kind === 'first' ? { ...outcome, installation: { kind: 'unknown' }, isNew: false } : outcome
    }
    hotState.settleInstall = async (settled) => {
      learnt.set(settled.eventId, settled.answer)
      await settleInstall({ ...settled, eventId: `${settled.eventId} after the loss` })
    }
    hotState.decideInstall = async (decided) => {
      learnt.set(decided.eventId, decided.answer)
      await decideInstall({ ...decided, eventId: `${decided.eventId} after the loss` })
    }
  }
  const usage = (): Promise<number> =>
    api.service.hotState.readUsage('acme', new Date(api.service.nowMs()).toISOString().slice(0, 7))

  for (const [where, isWritten] of [
    ['in the facts', true],
    ['only on the log', false],
  ] as const)
    it(`is called a repeat, and gets the first answer, if it is ${where}`, async () => {
      api = await startApi({ nowMs: middayClock() })
      const event = eventBody({ receipts: [await api.activeReceipt()] })
      const { facts } = api.service
      const startBatch = facts.startBatch.bind(facts)
      await api.service.drain('facts-writer')
      if (!isWritten) facts.startBatch = () => ({ ...startBatch(), insert: () => Promise.reject(new Error('held')) })
      const { body: first } = await api.post('/v1/events', event)
      expect(first).to.deep.include({ duplicate: false, resolution: 'matched' })
      if (isWritten) await api.service.drain('facts-writer')
      const used = await usage()
      lose()
      expect((await api.post('/v1/events', event)).body).to.deep.equal({ ...first, duplicate: true })
      expect((await api.post('/v1/events', event)).body).to.deep.equal({ ...first, duplicate: true })
      expect(await usage()).to.equal(used)
      expect((await api.event()).body).to.include({ duplicate: false })
      facts.startBatch = startBatch
      expect((await api.service.eventLog.read('installs', 0, 10)).length).to.equal(2)
    })
})
