/** The independent ledger beside the Overview, the command line and what programs read with a key: each hour, day and week, each panel, each filter. */

import { keyedSuite } from './keyed.suite.ts'
import { overviewSuite } from './overview.suite.ts'
import { reportSuite } from './report.suite.ts'
import { useLedger } from './stage.ts'

describe('the ledger beside the Overview, the command line and the API', function () {
  this.timeout(600_000)
  const ledgerOf = useLedger()

  overviewSuite(ledgerOf)
  keyedSuite(ledgerOf)
  reportSuite(ledgerOf)
})
