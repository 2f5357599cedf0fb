/** Filling a hot state from the facts: its queries may hang, and must not keep the process from stopping. */

import { expect } from 'chai'
import type { Install } from '../../domain/model.ts'
import { encodeRecord, type DecisionRecord, type InstallRecord } from '../../domain/records.ts'
import type { StoredEntry } from '../../ports/event-log/event-log.ts'
import { localHotState, type LocalHotState } from '../../ports/hot-state/redis/local-hot-state.ts'
import { installOf, recordOf, WEBSITE } from '../../fixtures/delivery/builders.ts'
import { createRefill, type RefillDeps } from '../../delivery/recovery/refill.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { until } from '../../fixtures/delivery/harness.ts'

describe('filling the hot state', () => {
  const asked: string[] = []
  const hangs = (what: string) => (): Promise<never> => {
    asked.push(what)
    return new Promise(() => undefined)
  }
  const done: RefillDeps['eventLog'] = { progress: async () => ({ done: [1], ends: [1] }), async *readLast() {} }
  const told: string[] = []
  const hotState = {
    forgotten: async () => ({ generation: 'one', sinceMs: null, losses: '0' }),
    claimJob: async () => true,
    releaseJob: async () => void told.push('released'),
    restored: async () => void told.push('restored'),
  } as unknown as RefillDeps['hotState']

  for (const [what, eventLog] of [
    ['the facts', done],
    ['the log', { ...done, progress: hangs('the log') }],
    [
      'entries of the log',
      { ...done, readLast: () => ({ [Symbol.asyncIterator]: () => ({ next: hangs('entries of the log') }) }) },
    ],
  ] as const) {
    it(`stops while ${what} hang, gives its claim back, and does not mark the hot state as complete`, async () => {
      asked.length = told.length = 0
      const facts = { run: hangs('the facts') } as RefillDeps['facts']
      const refill = createRefill({
        eventLog,
        hotState,
        facts,
        telemetry: { logger: SILENT_LOGGER },
        nowMs: Date.now,
        owner: 'one',
      })
      refill.request()
      await until(() => asked.length > 0)
      await refill.close()
      expect({ asked, told }).to.deep.equal({ asked: [what], told: ['released'] })
    })
  }

  describe('from the log, which has what the facts lack', () => {
    const MINUTE_MS = 60_000
    /** As a Redis that was emptied: it knows nothing, and takes everything. */
    let hot: LocalHotState
    let pages: { readonly installs: StoredEntry[]; readonly install_decisions: StoredEntry[] }
    let askedFor: unknown[]
    beforeEach(() => {
      hot = localHotState(Date.now)
      pages = { installs: [], install_decisions: [] }
      askedFor = []
    })
    const entryOf = (value: string): StoredEntry => ({ key: 'k', value, offset: 0, appendedAtMs: 0 })
    const put = (eventId: string, more: Partial<Install> = {}): InstallRecord => {
      const record = recordOf(installOf({ overrides: { eventId, ...more } }))
      pages.installs.push(entryOf(encodeRecord(record)))
      return record
    }
    const decide = ({ install, retentionDays }: InstallRecord, text: string): void => {
      const { website, organization, eventId, installationId, receivedAtMs, resolution, selectionPolicy } = install
      const { candidateCount, visitId, visitIssuedAtMs, gpc, verdicts, deliveries } = install
      const record = {
        v: 1,
        kind: 'install_decision',
        website,
        organization,
        eventId,
        installationId,
        receivedAtMs,
        resolution,
        selectionPolicy,
        candidateCount,
        visitId,
        visitIssuedAtMs,
        gpc,
        verdicts,
        deliveries,
        answer: { text },
        decidedAtMs: receivedAtMs,
        retentionDays,
      } as unknown as DecisionRecord
      pages.install_decisions.push(entryOf(encodeRecord(record)))
    }
    const eventLog: RefillDeps['eventLog'] = {
      progress: async () => ({ done: [0], ends: [1] }),
      async *readLast(topic, newest) {
        askedFor.push([topic, newest])
        yield pages[topic as keyof typeof pages]
      },
    }
    const heldOf = (eventId: string) =>
      hot.claimInstall({ organization: 'acme', website: WEBSITE, eventId, installationId: 'i', owner: 'somebody' })

    it('has the newest answers and decisions although the facts are behind, and is not complete yet', async () => {
      const { install } = put('one')
      put('one', { installationId: 'of a later record', answer: { ...install.answer, resolution: 'unmatched' } })
      const pending = put('open', { resolution: 'pending' })
      decide(pending, 'decided first')
      decide(pending, 'decided again')
      pages.installs.push(entryOf('no record'))
      let isRestored = false
      const refill = createRefill({
        hotState: {
          ...hot,
          forgotten: async () => ({ generation: 'one', sinceMs: null, losses: '0' }),
          claimJob: async () => true,
          restored: async () => void (isRestored = true),
        },
        eventLog,
        facts: { run: async () => [] },
        telemetry: { logger: SILENT_LOGGER },
        nowMs: Date.now,
        owner: 'one',
      })
      refill.request()
      await until(() => askedFor.length === 2)
      await refill.close()
      expect(await heldOf('one')).to.deep.equal({ kind: 'settled', answer: JSON.stringify(install.answer) })
      expect(await heldOf('open')).to.deep.equal({ kind: 'settled', answer: '{"text":"decided first"}' })
      expect((await heldOf('new')).kind).to.equal('first')
      expect(isRestored).to.equal(false)
      // By the log's own times: no clock of the process is compared with them.
      const window = { windowMs: 10 * MINUTE_MS }
      expect(askedFor).to.deep.equal([
        ['installs', window],
        ['install_decisions', window],
      ])
    })
  })
})
