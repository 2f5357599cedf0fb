/** The pages of figures over made-up traffic, as `npm run -s example-data` fills it in, on the example website: what pictures of the docs show. */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { spendOf } from '../../../bin/example-data/spend.ts'
import { trafficOfDay } from '../../../bin/example-data/traffic.ts'
import { rollUp } from '../../../delivery/rollup/rollup.ts'
import { decodeRecord, type LogRecord } from '../../../domain/records.ts'
import type { SpendRecord } from '../../../domain/spend/spend-records.ts'
import { createKeyring } from '../../../runtime/keyring.ts'
import { SECRET } from '../../dashboard/support/stage.ts'
import { storeCounted } from '../../support/counted.ts'
import { openTestFacts } from '../../support/facts.ts'
import { VIEWERS, type SheetStage } from './sheets.ts'
import { startPages } from './stage.ts'

const DAY_MS = 86_400_000
/** Four weeks, with those that they are compared with. */
const DAYS = 56
const QUICKSTART = join(import.meta.dirname, '../../../examples/quickstart')

const OWNER = `---
apiVersion: whence.dev/v1alpha1
kind: Member
metadata: { name: acme-owner }
spec: { organizationRef: { name: acme }, email: ${VIEWERS.owner}, role: Owner }
`

/** Ends with yesterday, as the example data do. */
function madeUpTraffic(): readonly LogRecord[] {
  const untilMs = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const { currentKeyId: keyId } = createKeyring([SECRET])
  const day = { website: 'acme-dev', organization: 'acme', seed: 1, untilMs, keyId }
  const traffic = Array.from({ length: DAYS }, (_, back) =>
    trafficOfDay({ ...day, dayMs: untilMs - (DAYS - back) * DAY_MS }),
  ).flat()
  const spend = spendOf({ ...day, dayMs: untilMs }, DAYS).map(({ value }) => decodeRecord<SpendRecord>(value))
  return [...traffic, ...spend]
}

export async function startExampleStage(): Promise<SheetStage> {
  const facts = await openTestFacts()
  const manifests = globSync('*.yaml', { cwd: QUICKSTART })
    .toSorted()
    .map((name) => readFileSync(join(QUICKSTART, name), 'utf8'))
  await storeCounted(facts, madeUpTraffic(), Date.now)
  await rollUp({ facts, nowMs: Date.now })
  const stage = await startPages({ manifests: [...manifests, OWNER].join('\n---\n'), facts })
  return {
    ...stage,
    addressOf: ({ address }) => stage.url + address,
    async stop() {
      await stage.stop()
      await facts.close()
    },
  }
}
