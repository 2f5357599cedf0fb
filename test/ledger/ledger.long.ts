/** The independent ledger beside the Overview and what programs read with a key: each hour, day and week, each panel, each filter. */

import { keyedSuite } from './keyed.suite.ts'
import { overviewSuite } from './overview.suite.ts'
import { useLedger } from './stage.ts'

describe('the ledger beside the Overview and the API', function () {
  this.timeout(600_000)
  const ledgerOf = useLedger()

  overviewSuite(ledgerOf)
  keyedSuite(ledgerOf)
})
