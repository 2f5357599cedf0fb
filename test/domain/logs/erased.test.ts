/** What remains of a record if something that it names was erased. */

import { expect } from 'chai'
import { ownerOfRecord, withoutErased } from '../../../domain/logs/names.ts'
import { visitIdIn } from '../../../domain/receipt.ts'
import type { LogRecord } from '../../../domain/records.ts'
import {
  activationRecord,
  activityRecord,
  decisionRecord,
  deliveryRecord,
  handoffRecord,
  installRecord,
  requestRecord,
  visitId,
  visitRecord,
} from '../../contract/fact-samples.ts'

const website = 'acme'
const visit = visitId()
const other = visitId()
const install = installRecord({
  website,
  visitId: visit,
  eventId: 'event-erased',
  installationId: 'installation-erased',
})
const ABOUT: Readonly<Record<string, readonly [LogRecord, string]>> = {
  'a visit': [visitRecord({ website, visitId: visit }), visit],
  'an activation': [activationRecord({ website, visitId: visit }), visit],
  'a handoff': [handoffRecord({ website, visitId: visit }), visit],
  'an install by its event': [install, 'event-erased'],
  'an install by its installation': [install, 'installation-erased'],
  'an install by its visit': [install, visit],
  'an install by a receipt that it only examined': [
    installRecord({ website, verdicts: [{ visitId: other, issuedAtMs: 1, verdict: 'expired' }] as never }),
    other,
  ],
  'a decision': [decisionRecord(install), 'event-erased'],
  'a delivery': [deliveryRecord({ website, eventId: 'event-erased' }), 'event-erased'],
  'a refused event': [requestRecord({ website, body: '{"event_id":"event-erased"' }), 'event-erased'],
  'an activity entry': [activityRecord({ website, subject: visit }), visit],
}

describe('a record that names something erased', () => {
  for (const [name, [record, erased]] of Object.entries(ABOUT)) {
    it(`is left out: ${name}`, () => {
      expect(ownerOfRecord(record)).to.include({ organization: 'acme', website })
      expect(withoutErased(record, (id) => id === erased)).to.equal(null)
      expect(withoutErased(record, () => false)).to.equal(record)
    })
  }

  it('stays without its reference if it only replaced that', () => {
    const later = visitRecord({ website, previousVisitId: visit })
    const { visit: left } = withoutErased(later, (id) => id === visit) as typeof later
    expect([left.visitId, left.previousVisitId]).to.deep.equal([later.visit.visitId, null])
    const activation = activationRecord({ website, revokedVisitId: visit, revokedIssuedAtMs: 1 })
    expect(withoutErased(activation, (id) => id === visit)).to.include({
      revokedVisitId: null,
      revokedIssuedAtMs: null,
    })
  })

  it('is found by a receipt or a token, whoever signed it', () => {
    const bytes = Buffer.alloc(32, 7)
    const id = Buffer.from(bytes.subarray(0, 16))
    expect(visitIdIn(bytes.toString('base64url'))).to.equal(id.toString('hex'))
    id[0] = 0x80 | 7
    const token = `wht_${Buffer.concat([id, Buffer.alloc(16)]).toString('base64url')}`
    expect(visitIdIn(token)).to.equal(Buffer.alloc(16, 7).toString('hex'))
    for (const text of ['', 'wht_', 'x'.repeat(42), `${'*'.repeat(43)}`]) expect(visitIdIn(text)).to.equal(null)
  })
})
