/** The independent ledger beside what places of ads are told, and what they cost: a service with time to tell them. */

import { openAds, type AdServer } from './service/ads.ts'
import { importSpend, spendSuite } from './suites/spend.suite.ts'
import { useLedger } from './service/stage.ts'
import { PLACES, type AdPlace } from './world/told.ts'
import { toldSuite, untilExpired } from './suites/told.suite.ts'

const SECRET = `---
apiVersion: v1
kind: Secret
metadata: { name: ads }
stringData: { token: not-a-real-one }
`

function manifestOf({ name, number, wants, isPaused, wantsRepeats }: AdPlace): string {
  return `---
apiVersion: whence.dev/v1alpha1
kind: Destination
metadata: { name: ${name} }
spec:
  websiteRef: { name: acme-dev }
  provider: meta
  mode: ${isPaused ? 'Paused' : 'Live'}
  eventTypes: [${wants.join(', ')}]
  repeats: ${wantsRepeats ? 'Include' : 'Exclude'}
  meta: { pixelId: '${number}', accessTokenRef: { name: ads, key: token } }
`
}

describe('the ledger beside ads', function () {
  this.timeout(600_000)
  let ads: AdServer
  before(async () => {
    ads = await openAds(PLACES)
  })
  after(() => ads?.stop())
  const ledgerOf = useLedger(() => ({
    visitors: 110,
    manifests: SECRET + PLACES.map(manifestOf).join(''),
    env: { WHENCE_META_URL: ads.url },
    isPatient: true,
    afterwards: async (ledger) => {
      await importSpend(ledger)
      await untilExpired(ledger)
    },
  }))

  toldSuite(ledgerOf, () => ads)
  spendSuite(ledgerOf)
})
