import { expect } from 'chai'

import { plainVisit } from '../../domain/collection/visit-fields.ts'
import { visitColumns, visitOfRow } from '../../ports/facts/visits.ts'

const VISIT = plainVisit({
  website: 'acme-dev',
  visitId: 'a'.repeat(32),
  organization: 'acme',
  issuedAtMs: 1_800_000_000_000,
  origin: 'https://acme.dev',
  pageUrl: 'https://acme.dev/install',
  identities: { ga4: { 'G-TEST000001': { client_id: '1.2', session_id: '3' } }, custom: { crm: { id: 7 } } },
  // As Chromium's client hints are.
  client: { timezone: 'Europe/Berlin', fullVersionList: [{ brand: 'Chromium', version: '156' }], mobile: false },
})

const { issued_at: issued_at_ms, landed_at: landed_at_ms, ...columns } = visitColumns(VISIT)
const ROW = { ...columns, issued_at_ms, landed_at_ms }

describe('the row of a visit', () => {
  it('holds all of it', () => {
    expect(visitOfRow(ROW)).to.deep.equal(VISIT)
  })

  it('counts as damaged if a column of JSON is no object', () => {
    for (const damaged of ['', 'null', '[]', '{"ga4":1}'])
      expect(visitOfRow({ ...ROW, identities: damaged })).to.equal(null)
    expect(visitOfRow({ ...ROW, client: '7' })).to.equal(null)
  })
})
