/** How requests of one turn of the event loop run together. */

import { expect } from 'chai'
import type { Request, Response } from 'express'
import { setImmediate as turn } from 'node:timers/promises'
import { inStep } from '../../api/http/in-step.ts'

const REQ = {} as Request
const RES = {} as Response

/** Sends one request per name through the handler; each takes two steps, with something awaited in between. */
function walk(names: readonly string[]): { readonly steps: string[]; readonly ended: Promise<unknown> } {
  const steps: string[] = []
  const handler = inStep()
  const walkers = names.map(
    (name) =>
      new Promise<void>((resolve) => {
        const go = async (): Promise<void> => {
          steps.push(`${name} 1`)
          await Promise.resolve()
          steps.push(`${name} 2`)
          resolve()
        }
        void handler(REQ, RES, () => void go())
      }),
  )
  return { steps, ended: Promise.all(walkers) }
}

describe('requests in step', () => {
  it('each take one step before any of them takes the next', async () => {
    const { steps, ended } = walk(['a', 'b', 'c'])
    await ended
    expect(steps).to.deep.equal(['a 1', 'b 1', 'c 1', 'a 2', 'b 2', 'c 2'])
  })

  it('are not kept waiting for others', async () => {
    const { steps } = walk(['alone'])
    await turn()
    expect(steps).to.deep.equal(['alone 1', 'alone 2'])
  })

  it('let other work run between groups, and all finish', async () => {
    const names = Array.from({ length: 150 }, (_, index) => `${index}`)
    const { steps, ended } = walk(names)
    const seen: number[] = []
    for (let turns = 0; turns < 3; turns++) {
      await turn()
      seen.push(steps.length / 2)
    }
    await ended
    expect(seen).to.deep.equal([64, 128, 150])
    expect(steps.filter((step) => step.endsWith(' 2'))).to.have.length(150)
  })

  it('begin again after a turn without requests', async () => {
    const handler = inStep()
    let gone = 0
    for (let round = 1; round <= 3; round++) {
      void handler(REQ, RES, () => (gone += 1))
      await turn()
      await turn()
      expect(gone).to.equal(round)
    }
  })
})
