/** The entries that changes of objects leave, from the objects as watches show them; in a real cluster: `operator.slow.ts`. */

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
      { append, changeHash: () => '' },
      () => nowMs,
      () => there,
      () => decision as never,
    )
    if (made === null) throw new Error('there is no audit')
    audit = made
  })

  const object = (uid: string, generation: number, spec: object): KubeObject => ({
    metadata: { namespace: 'acme', name: 'anna', uid, generation, creationTimestamp: '2026-11-23T00:00:00Z' },
    spec,
  })
  /** As a watch shows it: the one of before is not seen any more. */
  const see = (kind: 'Member' | 'Organization', shown: KubeObject, recorded: number): Promise<number> => {
    there = shown
    return audit.record({ kind, object: shown }, recorded)
  }
  const look = async (): Promise<void> => {
    nowMs += 30_000
    await audit.recordGone(new Map(there === undefined ? [] : [['Member/acme/anna', there]]))
  }
  const told = () => entries.map(({ type }) => type)

  it('tells the removal of an object that was made again before anybody looked, and that of the later one', async () => {
    await see('Member', object('u1', 1, { role: 'Viewer' }), 0)
    await see('Member', object('u2', 1, { role: 'Owner' }), 0)
    await look()
    there = undefined
    await look()
    await look()
    expect(told()).to.deep.equal(['object_created', 'object_removed', 'object_created', 'object_removed'])
    expect(new Set(entries.map(({ id }) => id)).size).to.equal(4)
  })

  it('tells that removal once, and first, if the log is away meanwhile', async () => {
    await see('Member', object('u1', 1, { role: 'Viewer' }), 0)
    isLogAway = true
    const second = object('u2', 1, { role: 'Owner' })
    expect(await see('Member', second, 0)).to.equal(0)
    nowMs += 2_000
    expect(await see('Member', second, 0)).to.equal(0)
    isLogAway = false
    nowMs += 2_000
    expect(await see('Member', second, 0)).to.equal(1)
    await look()
    expect(told()).to.deep.equal(['object_created', 'object_removed', 'object_created'])
  })

  it('says which plan a change has given an organisation, and nothing of plans in any other entry', async () => {
    await see('Organization', object('u1', 1, { plan: 'Free' }), 0)
    await see('Organization', object('u1', 2, { plan: 'Standard' }), 1)
    await see('Organization', object('u1', 3, { plan: 'Standard', displayName: 'Acme' }), 2)
    await see('Organization', object('u1', 4, { plan: 'a made-up one', displayName: 'Acme' }), 3)
    await see('Member', object('u9', 2, { plan: 'Free' }), 1)
    expect(entries.map(({ plan }) => plan)).to.deep.equal([undefined, 'Standard', undefined, undefined, undefined])
  })
})
