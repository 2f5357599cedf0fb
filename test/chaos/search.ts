/** Looks for canaries in everything that the brokers, Redis and the spool hold after a run. */

import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import type { Client } from './client.ts'
import { CHAOS_SECRETS, CHAOS_WEBSITES } from './manifests.ts'
import { searchFolders } from './privacy.ts'
import type { ChaosService } from './service.ts'
import { TEST_SECRET } from '../../fixtures/service/service.ts'

const MOST_SHOWN = 10

export interface SearchResult {
  readonly isClean: boolean
  readonly text: string
}

export async function searchService(service: ChaosService, client: Client): Promise<SearchResult> {
  const { cluster, engines, folder } = service
  // A value of our own shows that what is in Redis is found in its file.
  const control = `control-${randomBytes(8).toString('hex')}`
  engines.redis.cli('set', control, control)
  engines.redis.cli('save')
  const texts = [...Object.values(CHAOS_SECRETS), TEST_SECRET]
  const places = {
    brokers: {
      folders: cluster.brokers.map(({ nodeId }) => join(cluster.folder, `broker-${nodeId}`)),
      control: CHAOS_WEBSITES[0],
    },
    Redis: { folders: [engines.redis.folder], control },
    spool: { folders: [join(folder, 'spool')], control: CHAOS_WEBSITES[0] },
  }
  const lines: string[] = []
  let isClean = true
  for (const [name, { folders, control: known }] of Object.entries(places)) {
    const { findings, files, bytes, controls } = await searchFolders(folders, client.canaries, {
      texts,
      controls: [known],
    })
    const seen = controls.get(known) ?? 0
    // Only a run with a fault of the log puts anything into the spool.
    if (findings.length > 0 || (seen === 0 && name !== 'spool')) isClean = false
    lines.push(
      `${name}: ${findings.length} canaries in ${files} files of ${bytes} bytes; what must be there is ${seen} times`,
    )
    for (const { file, what } of findings.slice(0, MOST_SHOWN)) lines.push(`  ${file}: ${what}`)
  }
  const { addresses, secrets, optedOut } = client.canaries
  const sought = `${addresses.size} addresses, ${secrets.size} receipts and tokens, ${optedOut.size} identities under GPC`
  return { isClean, text: [`Searched for ${sought}, ${texts.length} secrets and a cookie:`, ...lines].join('\n') }
}
