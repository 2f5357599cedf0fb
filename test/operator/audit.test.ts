/** The entries that changes of objects leave, from the objects as watches show them; in a real cluster: `operator.test.ts`. */

import { expect } from 'chai'

import type { ActivityRecord } from '../../domain/records.ts'
import { auditOf, type Audit } from '../../operator/apply/audit.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'

const START_MS = Date.parse('2026-11-23T00:00:00Z')

describe('the audit of the operator', () => {
  let entries: ActivityRecord[]
  let isLogAway: boolean
  let nowMs: number
  let there: KubeObject | undefined
  let audit: Audit

  beforeEach(() => {
    entries = []
    isLogAway = false
    nowMs = START_MS
    there = undefined
    const append = async (entry: ActivityRecord): Promise<void> => {
      if (isLogAway) throw new Error('the log is away')
      entries.push(entry)
    }
    const decision = { owners: new Map(), inForce: { catalog: { organizations: new Map() } } }
    const made = auditOf(
      { audit: { append, changeHash: () => '' }, nowMs: () => nowMs },
      { resource: () => there },
      () => decision as never,
    )
    if (made === null) throw new Error('there is no audit')
    audit = made
  })

  const object = (uid: string, generation: number, spec: object): KubeObject => ({
    metadata: { namespace: 'acme', name: 'anna', uid, generation, creationTimestamp: '2026-11-23T00:00:00Z' },
    ...{ spec },
  })
  /** As a watch shows it: the one of before is not seen any more. */
  const see = (shown: KubeObject, recorded: number): Promise<number> => {
    there = shown
    return audit.record({ kind: 'Member', object: shown }, recorded)
  }
  const look = async (): Promise<void> => {
    nowMs += 30_000
    await audit.recordGone(new Map(there === undefined ? [] : [['Member/acme/anna', there]]))
  }
  const told = () => entries.map(({ type }) => type)

  it('tells the removal of an object that was made again before anybody looked, and that of the later one', async () => {
    await see(object('u1', 1, { role: 'Viewer' }), 0)
    await see(object('u2', 1, { role: 'Owner' }), 0)
    await look()
    there = undefined
    await look()
    await look()
    expect(told()).to.deep.equal(['object_created', 'object_removed', 'object_created', 'object_removed'])
    expect(new Set(entries.map(({ id }) => id)).size).to.equal(4)
  })

  it('tells that removal once, and first, if the log is away meanwhile', async () => {
    await see(object('u1', 1, { role: 'Viewer' }), 0)
    isLogAway = true
    const second = object('u2', 1, { role: 'Owner' })
    expect(await see(second, 0)).to.equal(0)
    nowMs += 2_000
    expect(await see(second, 0)).to.equal(0)
    isLogAway = false
    nowMs += 2_000
    expect(await see(second, 0)).to.equal(1)
    await look()
    expect(told()).to.deep.equal(['object_created', 'object_removed', 'object_created'])
  })
})
