/**
 * The independent ledger of forty days in which processes pass on late what they answered, installs are decided later, people want their data
 * erased, and a month is kept: every number of what is kept.
 */

import { startPostOffice, type PostOffice } from '../dashboard/support/post-office.ts'
import { LATE_DAYS, LATE_SPANS, lateSuite } from './suites/late.suite.ts'
import { reportSuite } from './suites/report.suite.ts'
import { sourcesSuite } from './suites/sources.suite.ts'
import { useLedger } from './service/stage.ts'

describe('the ledger of late things, erasure and expiry', function () {
  this.timeout(900_000)
  let office: PostOffice
  before(async () => {
    office = await startPostOffice()
  })
  after(() => office?.stop())
  const ledgerOf = useLedger(() => ({
    visitors: 90,
    days: LATE_DAYS,
    isTroubled: true,
    env: { WHENCE_SMTP_URL: office.url, WHENCE_MAIL_FROM: 'whence@acme.dev' },
  }))

  lateSuite(ledgerOf, () => office)
  sourcesSuite(ledgerOf, LATE_SPANS)
  reportSuite(ledgerOf, LATE_SPANS)
})
