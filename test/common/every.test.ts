import { expect } from 'chai'

import { every } from '../../common/every.ts'
import { until } from '../../fixtures/until.ts'

const PAUSE_MS = 1
const LONG_MS = 3_600_000

function unexpected(error: unknown): never {
  throw error
}

describe('every', () => {
  it('begins at once and goes on until it is closed', async () => {
    let rounds = 0
    const repetition = every(PAUSE_MS, () => void (rounds += 1), { onFailure: unexpected })
    expect(rounds).to.equal(1)
    await until(() => rounds >= 3)
    await repetition.close()
    const after = rounds
    await new Promise((resolve) => setTimeout(resolve, 10 * PAUSE_MS))
    expect(rounds).to.equal(after)
  })

  it('waits before the first round if told', async () => {
    let rounds = 0
    await using repetition = every(PAUSE_MS, () => void (rounds += 1), { firstMs: LONG_MS, onFailure: unexpected })
    expect(rounds).to.equal(0)
    repetition.now()
    expect(rounds).to.equal(1)
  })

  it('lets one round end before the next begins, and does not forget that another was wanted', async () => {
    const gates: PromiseWithResolvers<void>[] = []
    const act = (): Promise<void> => {
      const gate = Promise.withResolvers<void>()
      gates.push(gate)
      return gate.promise
    }
    const repetition = every(LONG_MS, act, { onFailure: unexpected })
    repetition.now()
    repetition.now()
    expect(gates).to.have.length(1)
    gates[0]?.resolve()
    await until(() => gates.length === 2)
    gates[1]?.resolve()
    await repetition.close()
    expect(gates).to.have.length(2)
  })

  it('tells each failure and goes on, at the pace of a failure', async () => {
    const failures: unknown[] = []
    let rounds = 0
    const act = (): void => {
      rounds += 1
      if (rounds < 3) throw new Error(`round ${rounds}`)
    }
    await using _ = every(LONG_MS, act, { retryMs: PAUSE_MS, onFailure: (error) => void failures.push(error) })
    await until(() => rounds === 3)
    expect(failures.map(String)).to.deep.equal(['Error: round 1', 'Error: round 2'])
  })

  it('pauses as long as the round says', async () => {
    let rounds = 0
    await using _ = every(LONG_MS, () => ((rounds += 1) < 3 ? PAUSE_MS : undefined), { onFailure: unexpected })
    await until(() => rounds === 3)
  })

  it('begins no round by itself if the pause has no end', async () => {
    let rounds = 0
    await using repetition = every(Infinity, () => void (rounds += 1), { onFailure: unexpected })
    await new Promise((resolve) => setTimeout(resolve, 10 * PAUSE_MS))
    expect(rounds).to.equal(1)
    repetition.now()
    await until(() => rounds === 2)
  })

  it('tells the round under way that it is closed, waits for it, and does not call that a failure', async () => {
    let isOver = false
    const act = (signal: AbortSignal): Promise<void> =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          isOver = true
          reject(new Error('interrupted'))
        }),
      )
    const repetition = every(PAUSE_MS, act, { onFailure: unexpected })
    await Promise.all([repetition.close(), repetition.close()])
    expect(isOver).to.equal(true)
  })

  it('begins nothing after it was closed', async () => {
    let rounds = 0
    const repetition = every(PAUSE_MS, () => void (rounds += 1), { firstMs: LONG_MS, onFailure: unexpected })
    await repetition.close()
    repetition.now()
    expect(rounds).to.equal(0)
  })
})
