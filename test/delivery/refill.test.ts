/** Filling a hot state from the facts: its queries may hang, and must not keep the process from stopping. */

import { expect } from 'chai'
import { createRefill, type RefillDeps } from '../../delivery/recovery/refill.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { until } from '../../fixtures/delivery/harness.ts'

describe('filling the hot state', () => {
  const asked: string[] = []
  const hangs = (what: string) => (): Promise<never> => {
    asked.push(what)
    return new Promise(() => undefined)
  }
  const done: RefillDeps['eventLog'] = { progress: async () => ({ done: [1], ends: [1] }) }
  const told: string[] = []
  const hotState = {
    forgotten: async () => ({ generation: 'one', sinceMs: null, losses: '0' }),
    claimJob: async () => true,
    releaseJob: async () => void told.push('released'),
    restored: async () => void told.push('restored'),
  } as unknown as RefillDeps['hotState']

  for (const [what, eventLog] of [
    ['the facts', done],
    ['the log', { progress: hangs('the log') }],
  ] as const) {
    it(`stops while ${what} hang, gives its claim back, and does not mark the hot state as complete`, async () => {
      asked.length = told.length = 0
      const facts = { run: hangs('the facts') } as RefillDeps['facts']
      const refill = createRefill({
        ...{ eventLog, hotState, facts },
        ...{ logger: SILENT_LOGGER, nowMs: Date.now, owner: 'one' },
      })
      refill.request()
      await until(() => asked.length > 0)
      await refill.stop()
      expect({ asked, told }).to.deep.equal({ asked: [what], told: ['released'] })
    })
  }
})
