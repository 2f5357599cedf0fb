/** What a line of Logs is found by. */

import { expect } from 'chai'
import * as fc from 'fast-check'

import { referenceHash, referencesOf } from '../../../domain/logs/references.ts'
import {
  activationRecord,
  activityRecord,
  handoffRecord,
  installRecord,
  request,
  requestRecord,
  visitId,
  visitRecord,
} from '../../contract/fact-samples.ts'

const hashes = (...texts: readonly string[]): readonly number[] => texts.map(referenceHash)
const RECEIPT_HASH = '0123456789abcdef0123456789abcdef'

describe('references of a line of Logs', () => {
  it('are hashes that JavaScript and the engine hold exactly, and differ for texts that differ', () => {
    fc.assert(fc.property(fc.string(), (text) => Number.isSafeInteger(referenceHash(text)) && referenceHash(text) >= 0))
    const texts = Array.from({ length: 200_000 }, (_, index) => `installation-${index}`)
    expect(new Set(texts.map(referenceHash)).size).to.equal(texts.length)
  })

  it('use all of their bits', () => {
    const seen = Array.from({ length: 4_096 }, (_, index) => referenceHash(index.toString(16)))
    for (let bit = 0; bit < 53; bit++) {
      const set = seen.filter((hash) => Math.floor(hash / 2 ** bit) % 2 === 1).length
      expect(set, `bit ${bit}`).to.be.within(1_850, 2_250)
    }
  })

  it('name the visits of a visit, an activation and a handoff', () => {
    const first = visitId()
    const second = visitId()
    expect(referencesOf(visitRecord({ visitId: first }))).to.deep.equal(hashes(first))
    const activation = activationRecord({ website: 'acme', visitId: first, revokedVisitId: second })
    expect(referencesOf(activation)).to.deep.equal(hashes(first, second))
    expect(referencesOf(handoffRecord({ website: 'acme', visitId: second }))).to.deep.equal(hashes(second))
  })

  it('name the event, the installation, and every visit that an install looked at, each once', () => {
    const chosen = visitId()
    const other = visitId()
    const verdicts = [chosen, other, null].map((id) => ({ visitId: id, issuedAtMs: null, verdict: 'active' as const }))
    const record = installRecord({ eventId: 'event-0001', installationId: 'machine-1', visitId: chosen, verdicts })
    expect(referencesOf(record)).to.deep.equal(hashes('event-0001', 'machine-1', chosen, other))
  })

  it('name receipts by the hash in the body, also of a refused request', () => {
    const body = `{"receipts":["hmac:${RECEIPT_HASH}","hmac:${RECEIPT_HASH}"],"event_id" : "event-0002"}`
    expect(referencesOf(requestRecord({ body }))).to.deep.equal(hashes('event-0002', RECEIPT_HASH))
    const visit = { ...visitRecord(), request: request({ body: `{"previous_receipt":"hmac:${RECEIPT_HASH}"}` }) }
    expect(referencesOf(visit)).to.include(referenceHash(RECEIPT_HASH))
  })

  it('are bounded, whatever a body holds, and none without a request', () => {
    const body = Array.from({ length: 400 }, (_, index) => `hmac:${index.toString(16).padStart(32, '0')}`).join()
    expect(referencesOf(requestRecord({ body }))).to.have.lengthOf(132)
    expect(referencesOf(requestRecord({ body: 'hmac:' }))).to.deep.equal([])
    expect(referencesOf(activityRecord())).to.deep.equal([])
  })
})
