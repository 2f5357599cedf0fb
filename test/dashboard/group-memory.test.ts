/** The groups of a session, on a real store: while they are read again nobody finds none, wherever the process dies. */

import { expect } from 'chai'

import {
  createGroupMemory,
  type GroupGrant,
  type GroupReading,
  type ReadGroups,
} from '../../dashboard/sessions/group-memory.ts'
import { LIMITS } from '../../domain/limits.ts'
import { lmdbHotState, type LmdbHotState } from '../../ports/hot-state/lmdb/lmdb.ts'
import type { OnceVerbs } from '../../ports/hot-state/session-verbs.ts'
import type { LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder, testClock } from '../contract/lmdb-harness.ts'

const SESSION = { id: 'a', cookie: 'c' }
const GRANT: GroupGrant = { subject: 's', accessToken: 't', accessEndsAtMs: null, refreshToken: 'first' }
/** Of writing them again, after they were asked for. */
const STEPS = 4

describe('the memory of groups', () => {
  let folder: string
  let environment: LmdbEnvironment
  let state: LmdbHotState
  let clock = testClock()
  beforeEach(async () => {
    clock = testClock()
    folder = await temporaryFolder()
    environment = await openTestEnvironment(folder, clock.nowMs)
    state = await lmdbHotState(environment, { sweepEveryMs: Infinity })
  })
  afterEach(async () => {
    await state.close()
    await environment.close()
    await deleteFolder(folder)
  })

  const pass = (ms: number): void => clock.set(clock.nowMs() + ms)
  /** With a store that calls `beforeVerb` before each of its verbs. */
  const memoryOf = (readGroups: ReadGroups, beforeVerb: () => void | Promise<void> = () => undefined) => {
    const step =
      <A extends unknown[], R>(verb: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        await beforeVerb()
        return verb(...args)
      }
    const hotState: OnceVerbs = {
      putOnce: step((key, value, forMs) => state.putOnce(key, value, forMs)),
      replaceOnce: step((key, value, forMs) => state.replaceOnce(key, value, forMs)),
      readOnce: step((key) => state.readOnce(key)),
      takeOnce: step((key) => state.takeOnce(key)),
    }
    return createGroupMemory({ hotState, readGroups, nowMs: clock.nowMs })
  }
  const platform: ReadGroups = async (grant) => ({ kind: 'read', groups: ['platform'], grant })

  it('gives them to everybody who asks between any two steps of reading them again', async () => {
    const other = memoryOf(async () => ({ kind: 'over' }))
    const found: unknown[] = []
    const memory = memoryOf(platform, async () => void found.push(await other.current({ ...SESSION, cookie: null })))
    await memoryOf(platform).begin(SESSION, ['platform'], GRANT)
    for (let turn = 0; turn < 3; turn += 1) {
      pass(LIMITS.groupsReadAgainMs)
      expect(await memory.current(SESSION)).to.deep.equal(['platform'])
    }
    expect(found.length).to.be.at.least(9)
    for (const groups of found) expect(groups).to.deep.equal(['platform'])
  })

  for (let diesAt = 0; diesAt < STEPS; diesAt += 1)
    it(`keeps them if the process dies before step ${diesAt}`, async () => {
      let steps = 0
      const memory = memoryOf(platform, () => {
        if (steps++ >= diesAt) throw new Error('died')
      })
      await memoryOf(platform).begin(SESSION, ['platform'], GRANT)
      pass(LIMITS.groupsReadAgainMs)
      await memory.current(SESSION).catch(() => null)
      expect(steps).to.equal(diesAt + 1)
      expect(await memoryOf(platform).current(SESSION)).to.deep.equal(['platform'])
    })

  it('lets those who ask more than an hour later wait for the one who reads them', async () => {
    let answer: (reading: GroupReading) => void = () => undefined
    let isAsked: () => void = () => undefined
    const asked = new Promise<void>((done) => (isAsked = done))
    const first = memoryOf((grant) => {
      isAsked()
      return new Promise((done) => (answer = () => done({ kind: 'read', groups: ['platform'], grant })))
    })
    await memoryOf(platform).begin(SESSION, ['platform'], GRANT)
    pass(2 * LIMITS.groupMembershipMs)
    const reading = first.current(SESSION)
    await asked
    let looks = 0
    const waiting = memoryOf(platform, () => {
      // Once it has looked again it cannot but wait.
      if (++looks === 4) answer({ kind: 'over' })
    })
    expect(await waiting.current(SESSION)).to.deep.equal(['platform'])
    expect(await reading).to.deep.equal(['platform'])
  })

  it('keeps them for an hour if the provider does not say them, asks again after 15 minutes, and with the latest grant', async () => {
    const asked: (string | null)[] = []
    const memory = memoryOf(async (grant) => {
      asked.push(grant.refreshToken)
      return { kind: 'unsaid', grant: { ...grant, refreshToken: `after ${grant.refreshToken}` } }
    })
    await memory.begin(SESSION, ['platform'], GRANT)
    for (let quarter = 1; quarter < 4; quarter += 1) {
      pass(LIMITS.groupsReadAgainMs - 1)
      await memory.current(SESSION)
      pass(1)
      expect(await memory.current(SESSION), `quarter ${quarter}`).to.deep.equal(['platform'])
      expect(asked).to.have.length(quarter)
    }
    expect(asked).to.deep.equal(['first', 'after first', 'after after first'])
    pass(LIMITS.groupsReadAgainMs)
    expect(await memory.current(SESSION)).to.deep.equal([])
    expect(await memory.current({ ...SESSION, cookie: null })).to.deep.equal([])
  })

  it('counts them for an hour for work that goes on without a browser', async () => {
    const memory = memoryOf(async () => {
      throw new Error('nobody is there with the cookie')
    })
    const unattended = { ...SESSION, cookie: null, isUnattended: true }
    await memory.begin(SESSION, ['platform'], GRANT)
    pass(LIMITS.groupMembershipMs - 1)
    expect(await memory.current({ ...SESSION, cookie: null })).to.deep.equal([])
    expect(await memory.current(unattended)).to.deep.equal(['platform'])
    pass(1)
    expect(await memory.current(unattended)).to.deep.equal([])
  })

  it('asks with the latest grant after the provider has renewed it and then did not answer', async () => {
    const asked: (string | null)[] = []
    const memory = memoryOf(async (grant) => {
      asked.push(grant.refreshToken)
      return { kind: 'away', grant: { ...grant, refreshToken: 'second' } }
    })
    await memory.begin(SESSION, ['platform'], GRANT)
    pass(LIMITS.groupsReadAgainMs)
    expect(await memory.current(SESSION)).to.deep.equal(['platform'])
    pass(60_000)
    expect(await memory.current(SESSION)).to.deep.equal(['platform'])
    expect(asked).to.deep.equal(['first', 'second'])
  })
})
