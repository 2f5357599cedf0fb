/**
 * One pod's view of the catalog, for the benchmark of the operator: `node bench/support/operator-reader.ts PROVIDER|none`.
 *
 * Prints a line of JSON for each catalog in force, with what it changed: `{ atMs, websites, renamed: { id: name } }`, and for
 * a provider `secret`, the latest value that a destination has.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Registry } from 'prom-client'

import type { Catalog } from '../../domain/catalog.ts'
import { PROVIDER_IDS } from '../../domain/providers/index.ts'
import { openClusterCatalog } from '../../runtime/catalog/cluster-catalog.ts'
import { createKubeClient } from '../../runtime/kube/client.ts'
import { createKubeMetrics } from '../../runtime/kube/metrics.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'

const {
  WHENCE_KUBE_URL: url = '',
  WHENCE_KUBE_TOKEN_FILE: tokenFile = '',
  WHENCE_KUBE_CA_FILE: caFile = '',
} = process.env
const PATIENCE_MS = 300_000
const LOOK_MS = 5

const holder = PROVIDER_IDS.find((id) => id === process.argv[2]) ?? null
const folder = await mkdtemp(join(tmpdir(), 'whence-bench-reader-'))
const source = await openClusterCatalog({
  watching: {
    client: createKubeClient({ url, tokenFile, caFile, userAgent: 'reader' }, Date.now),
    logger: SILENT_LOGGER,
    random: Math.random,
    metrics: createKubeMetrics(new Registry()),
  },
  place: { namespace: 'whence', name: 'whence' },
  holder,
  folder,
  patienceMs: PATIENCE_MS,
})
const names = new Map<string, string>()
let secret = ''

const tell = (news: object): void => void process.stdout.write(`${JSON.stringify({ atMs: Date.now(), ...news })}\n`)

function take({ websites }: Catalog): void {
  const renamed: Record<string, string> = {}
  for (const { id, displayName } of websites.values()) {
    if (names.get(id) === displayName) continue
    if (names.has(id)) renamed[id] = displayName
    names.set(id, displayName)
  }
  tell({ websites: websites.size, renamed })
}

source.onChange(({ catalog }) => take(catalog))
take(source.current())
if (holder !== null) {
  setInterval(() => {
    const [values = {}] = source.credentials().values()
    const now = Object.values(values)[0] ?? ''
    if (now !== secret) tell({ secret: now })
    secret = now
  }, LOOK_MS)
}
process.once('SIGTERM', () => void rm(folder, { recursive: true, force: true }).then(() => process.exit(0)))
