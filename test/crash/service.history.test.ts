/** The judge of crash tests is tested too: each broken promise must be seen, and kept ones must not be called broken. */

import { expect } from 'chai'
import { brokenPromises, brokenWithoutMemory, type Operation, type Stored } from './service.history.ts'

const ANSWER = { ok: true, event_id: 'event-1', duplicate: false, resolution: 'matched', ga: { status: 'pending' } }

let clock = 0
function operation(more: Partial<Operation>): Operation {
  const beganAt = (clock += 1)
  const endedAt = (clock += 1)
  const base = { website: 'site', names: '', hasToken: false, outcome: 'ok', status: 200, answer: {}, beganAt, endedAt }
  return { ...base, tag: `load/${clock}`, kind: 'visit', subject: 'visit-1', ...more } as Operation
}
const event = (more: Partial<Operation> = {}): Operation =>
  operation({ kind: 'event', subject: 'event-1', answer: ANSWER, ...more })

/** Stored as it must be after these operations, with what a test bends. */
function storedAfter(operations: readonly Operation[], more: Partial<Stored> = {}): Stored {
  return {
    logs: new Map(operations.map(({ tag }) => [tag, 1])),
    installs: [{ website: 'site', event_id: 'event-1', answer: JSON.stringify(ANSWER) }],
    deliveries: [{ website: 'site', event_id: 'event-1', job_id: 'job-1', status: 'delivered' }],
    visitIds: new Set(['visit-1']),
    activeVisitIds: new Set(['visit-1']),
    sentIds: ['job-1', 'job-1'],
    ...more,
  }
}

describe('the judge of crash tests', () => {
  const visit = operation({})
  const activation = operation({ kind: 'activation' })
  const first = event({ names: 'visit-1' })
  const repeat = event({ answer: { ...ANSWER, duplicate: true } })
  const kept = [visit, activation, first, repeat]

  it('finds nothing if every promise was kept', () => {
    expect(brokenPromises(kept, storedAfter(kept))).to.deep.equal([])
  })

  it('lets an unanswered event be stored or not', () => {
    const cutOff = event({ outcome: 'unknown', answer: {} })
    const none = { installs: [], deliveries: [], sentIds: [] }
    expect(brokenPromises([visit, activation, cutOff], storedAfter([visit, activation]))).to.deep.equal([])
    expect(brokenPromises([visit, activation, cutOff], storedAfter([visit, activation], none))).to.deep.equal([])
  })

  it('forgives another answer if the hot state was lost, and no second row or delivery', () => {
    const anew = [...kept, event({ answer: { ...ANSWER, resolution: 'unmatched' } })]
    expect(brokenWithoutMemory(anew, storedAfter(anew))).to.deep.equal([])
    const [row] = storedAfter(kept).installs
    const doubled = { installs: row === undefined ? [] : [row, row] }
    expect(brokenWithoutMemory(kept, storedAfter(kept, doubled)).join()).to.match(/has 2 rows/)
    expect(brokenWithoutMemory(kept, storedAfter(kept, { deliveries: [] })).join()).to.match(/has 0 deliveries/)
  })

  const cases: Readonly<Record<string, [readonly Operation[], Partial<Stored>, RegExp]>> = {
    'an answered request without a log': [kept, { logs: new Map() }, /has 0 rows in the logs/],
    'a request that is in the logs twice': [kept, { logs: new Map(kept.map(({ tag }) => [tag, 2])) }, /has 2 rows/],
    'a lost visit': [kept, { visitIds: new Set() }, /its visit is not there/],
    'a visit that nobody made': [kept, { visitIds: new Set(['visit-1', 'visit-2']) }, /2 visits, of 1 answered/],
    'a lost activation': [kept, { activeVisitIds: new Set() }, /is lost/],
    'a lost event': [kept, { installs: [] }, /was answered and has 0 rows/],
    'an event that nobody sent': [[visit], {}, /is stored and nobody sent it/],
    'a refused event that is stored': [[visit, event({ outcome: 'refused', answer: {} })], {}, /was refused and has 1/],
    'an answer that is not what is stored': [
      [visit, activation, event({ answer: { ...ANSWER, resolution: 'unmatched' } })],
      {},
      /and stored is/,
    ],
    'two first answers': [[visit, event(), event()], {}, /was first 2 times/],
    'a first answer after a repeat': [
      [visit, event({ answer: { ...ANSWER, duplicate: true } }), event()],
      {},
      /was first/,
    ],
    'a repeat of nothing': [[visit, event({ answer: { ...ANSWER, duplicate: true } })], {}, /nothing came before it/],
    'an active receipt that does not match': [
      [visit, activation, event({ names: 'visit-1', answer: { ...ANSWER, resolution: 'unmatched' } })],
      {},
      /its visit is active/,
    ],
    'a lost delivery': [kept, { deliveries: [] }, /has 0 deliveries/],
    'a delivery that never went out': [kept, { sentIds: [] }, /never reached the provider/],
    'a delivery under a second ID': [kept, { sentIds: ['job-1', 'job-2'] }, /is no delivery's ID/],
  }
  for (const [name, [operations, bent, words]] of Object.entries(cases)) {
    it(`sees ${name}`, () => {
      expect(brokenPromises(operations, storedAfter(operations, bent)).join('\n')).to.match(words)
    })
  }
})
