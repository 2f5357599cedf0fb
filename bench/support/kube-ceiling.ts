/** The most that the API server of a benchmark can do: the ceiling of every client that writes to it. */

import { conditionsOf } from '../../domain/resources/conditions.ts'
import { createWriter } from '../../operator/apply/writer.ts'
import type { KubeClient } from '../../runtime/kube/client.ts'
import { website } from '../../fixtures/service/manifests.ts'

/** Enough for the server to collect garbage at its usual rate. */
const SAMPLE = 3_000
const LANES = 32

/**
 * First statuses of websites per second that the server takes from a loop around the operator's own writer, without the
 * rest of the operator and without watches. The namespace must exist; its websites are deleted afterwards.
 */
export async function statusesPerSecond(client: KubeClient, namespace: string): Promise<number> {
  const websites = `/apis/whence.dev/v1alpha1/namespaces/${namespace}/websites`
  const bodies = Array.from({ length: SAMPLE }, (_, index) =>
    website(`bare-${index}`, { organizationRef: { name: 'none' } }),
  )
  await inLanes(bodies.values(), async (body) => {
    await client.request({ method: 'POST', path: websites, body })
  })
  const writer = createWriter({ client, mayWrite: () => true, onWrite: () => undefined })
  const beganMs = performance.now()
  await inLanes(bodies.keys(), async (index) => {
    const name = `bare-${index}`
    await writer.applyStatus('Website', { metadata: { name, namespace } }, statusOf(name))
  })
  const tookS = (performance.now() - beganMs) / 1_000
  await client.request({ method: 'DELETE', path: websites })
  return SAMPLE / tookS
}

/** Of the same size as the operator's. */
function statusOf(name: string): object {
  const now = new Date().toISOString().replace(/\.\d+/, '')
  const ready = { kind: 'Website', generation: 1, problems: [], isPublished: true, previous: [], now } as const
  return {
    observedGeneration: 1,
    id: name,
    snippet: `<script async src="https://whence.example/browser.js" data-project="${name}"></script>`,
    hookCommand: `curl -fsSL https://whence.example/v1/projects/${name}/paths/cli/report.sh | sh -s -- install_completed`,
    conditions: conditionsOf(ready),
  }
}

/** Works through all items, many at once. */
export async function inLanes<T>(work: Iterator<T>, run: (item: T) => Promise<void>): Promise<void> {
  const lane = async (): Promise<void> => {
    for (let next = work.next(); next.done !== true; next = work.next()) await run(next.value)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}
