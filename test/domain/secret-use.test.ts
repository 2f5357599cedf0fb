/** When a Secret that the dashboard made counts as unused. */

import { expect } from 'chai'

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { createUnusedSecrets, type UnusedSecret } from '../../domain/resources/secret-use.ts'

const START_MS = Date.parse('2026-11-23T00:00:00Z')

function secret(name: string, createdAtMs: number): UnusedSecret {
  return { key: `acme/${name}`, uid: `uid of ${name}`, createdAtMs }
}

describe('Secrets that nothing refers to', () => {
  const old = secret('old', START_MS - 30 * DAY_MS)
  const fresh = secret('fresh', START_MS - MINUTE_MS)
  const none: ReadonlySet<string> = new Set()
  let due: (referred: ReadonlySet<string>, afterMs: number, made?: readonly UnusedSecret[]) => readonly string[]
  let startOver: () => void

  beforeEach(() => {
    const unused = createUnusedSecrets()
    due = (referred, afterMs, made = [old, fresh]) =>
      unused.due(made, referred, START_MS + afterMs).map(({ key }) => key)
    startOver = unused.startOver
  })

  it('are due an hour after they were made if nothing ever referred to them', () => {
    expect(due(none, 0)).to.deep.equal([])
    expect(due(none, HOUR_MS - 1)).to.deep.equal([])
    expect(due(none, HOUR_MS)).to.deep.equal(['acme/fresh'])
  })

  it('stay for a day if they may have been in use', () => {
    due(none, 0)
    expect(due(none, DAY_MS - 1, [old])).to.deep.equal([])
    expect(due(none, DAY_MS, [old])).to.deep.equal(['acme/old'])
  })

  it('stay for a day after they were replaced, however young they are', () => {
    due(new Set(['acme/fresh']), 0)
    expect(due(none, MINUTE_MS, [fresh])).to.deep.equal([])
    expect(due(none, MINUTE_MS + DAY_MS - 1, [fresh])).to.deep.equal([])
    expect(due(none, MINUTE_MS + DAY_MS, [fresh])).to.deep.equal(['acme/fresh'])
  })

  it('are never due while something refers to them, and their time starts again with each use', () => {
    due(none, 0)
    expect(due(new Set(['acme/old']), DAY_MS - 1, [old])).to.deep.equal([])
    expect(due(none, DAY_MS, [old])).to.deep.equal([])
    expect(due(none, 2 * DAY_MS - 1, [old])).to.deep.equal([])
    expect(due(none, 2 * DAY_MS, [old])).to.deep.equal(['acme/old'])
  })

  it('count from the time at which everything is known again', () => {
    due(none, 0)
    startOver()
    expect(due(none, DAY_MS, [old])).to.deep.equal([])
    expect(due(none, 2 * DAY_MS, [old])).to.deep.equal(['acme/old'])
  })

  it('are different ones if they were created again under their name', () => {
    due(none, 0, [fresh])
    const again = { ...fresh, uid: 'another', createdAtMs: START_MS + HOUR_MS }
    expect(due(none, HOUR_MS, [again])).to.deep.equal([])
    expect(due(none, 2 * HOUR_MS, [again])).to.deep.equal(['acme/fresh'])
  })
})
