/** A part that cannot be opened at first: the program runs without it, and uses it as soon as it opens. */

import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { expect } from 'chai'

import { keepOpening } from '../../bin/wiring/process.ts'
import { until } from '../../fixtures/until.ts'

const SOON = { name: 'mail', patienceMs: 20, againMs: 1 }

describe('a part that is retried until it opens', () => {
  let said: string[]
  let stops: number
  const logger = {
    ...SILENT_LOGGER,
    warn: (_fields: object, message: string) => void said.push(message),
    info: (_fields: object, message: string) => void said.push(message),
  }
  const part = { close: async () => void (stops += 1) }
  beforeEach(() => {
    said = []
    stops = 0
  })

  it('is there at once if possible, and nothing is logged', async () => {
    const kept = await keepOpening(async () => part, { ...SOON, logger: logger as never })
    await kept.close()
    expect({ said, stops }).to.deep.equal({ said: [], stops: 1 })
  })

  it('is tried again until it opens', async () => {
    let tries = 0
    const kept = await keepOpening(
      async () => {
        if (++tries < 3) throw new Error('away')
        return part
      },
      { ...SOON, logger: logger as never },
    )
    await until(() => said.includes('opened'))
    expect(said).to.deep.equal(['not opened yet, trying again', 'not opened yet, trying again', 'opened'])
    await kept.close()
    expect(stops).to.equal(1)
  })

  it('does not delay a stop, and is stopped if it opens afterwards', async () => {
    const opening = Promise.withResolvers<typeof part>()
    const kept = await keepOpening(() => opening.promise, { ...SOON, logger: logger as never })
    await kept.close()
    expect(stops).to.equal(0)
    opening.resolve(part)
    await until(() => stops === 1)
    expect(said).to.deep.equal([])
  })

  it('is not tried again after the stop', async () => {
    let tries = 0
    const open = async (): Promise<never> => {
      tries += 1
      throw new Error('away')
    }
    const kept = await keepOpening(open, { ...SOON, againMs: 60_000, logger: logger as never })
    await kept.close()
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(tries).to.equal(1)
  })
})
