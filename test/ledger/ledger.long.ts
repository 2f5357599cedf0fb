/** The independent ledger beside all surfaces but the page Sources: each hour, day and week, each panel, each filter. */

import { besideSuite } from './suites/beside.suite.ts'
import { keyedSuite } from './suites/keyed.suite.ts'
import { LINKS } from './service/links.ts'
import { overviewSuite } from './suites/overview.suite.ts'
import { reportSuite } from './suites/report.suite.ts'
import { useLedger } from './service/stage.ts'

describe('the ledger beside the Overview, the command line and the API', function () {
  this.timeout(600_000)
  const manifests = Object.values(LINKS)
    .map(({ manifest }) => manifest)
    .join('')
  const ledgerOf = useLedger(() => ({ manifests }))

  overviewSuite(ledgerOf)
  keyedSuite(ledgerOf)
  reportSuite(ledgerOf)
  besideSuite(ledgerOf)
})
