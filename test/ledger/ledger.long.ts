/** The independent ledger beside the Overview and what programs read with a key: each hour, day and week, each panel, each filter. */

import { keyedSuite } from './keyed.suite.ts'
import { overviewSuite } from './overview.suite.ts'
import { startLedger, type Ledger } from './stage.ts'

describe('the ledger beside the Overview and the API', function () {
  this.timeout(600_000)
  let ledger: Ledger | undefined
  const ledgerOf = (): Ledger => {
    if (ledger === undefined) throw new Error('the world has not happened')
    return ledger
  }
  before(async () => {
    ledger = await startLedger()
  })
  after(() => ledger?.stop())

  overviewSuite(ledgerOf)
  keyedSuite(ledgerOf)
})
