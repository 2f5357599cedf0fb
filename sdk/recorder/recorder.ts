/** The part of the SDK that records a visit: with what the service, the tags and the extras know, and with its marker. */

import { BODY_BYTES } from '../core/limits.ts'
import { firstGroup } from '../core/source.ts'
import type { BegunVisit, BrowserConfig, Page, VisitRecorder, Scope, ServiceAnswer } from '../core/types.ts'
import { readClient } from './client.ts'
import { markerName, openStorage, readKeptReceipt, removeMarkers, writeMarker } from './marker.ts'

export const recorder: VisitRecorder = {
  record: async (page, scope, begun) => {
    const { project } = scope
    const { body, send } = begun
    const name = markerName(project, body.url_id)
    const root = await openStorage()
    if (root) body.previous_receipt = await readKeptReceipt(root, name)
    await complete(page, scope, begun)
    const marker = markerIn(await send())
    if (!marker) return
    scope.currentReceipt = marker.receipt
    // A visit without a marker is never activated: only a token can link an install to it.
    if (!root) return
    await writeMarker(root, name, marker)
    await scope.send('v1/visits/activate', { project, receipt: marker.receipt })
  },
  complete,
  removeMarkers,
}

/** The service's answer to a visit; stored unchanged. */
interface IssuedMarker {
  readonly receipt: string
}

/** Throws if the answer is none: the visit is abandoned. Undefined if it has no receipt. */
function markerIn(answer: ServiceAnswer): IssuedMarker | undefined {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the service's answer; what is missing in it throws
  const { marker } = answer as { marker: IssuedMarker }
  return marker.receipt ? marker : undefined
}

async function complete(
  page: Page,
  scope: Scope,
  { body, landing }: Pick<BegunVisit, 'body' | 'landing'>,
): Promise<void> {
  const { project, adapters } = scope
  body.client = await readClient()
  // The mark of a test, from the dashboard; without one the member is left out of the JSON.
  body.test = firstGroup(/#_whence_test=(.+)/, page.view.url)
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the service's answer; what is missing in it throws
  const config = (await scope.send(`v1/projects/${project}/browser-config`)) as unknown as BrowserConfig
  body.identities = {}
  if (body.gpc) config.providers = []
  await Promise.all([
    // Throws if the answer is no configuration.
    (config.measurementIds.length || config.providers.some((provider) => provider !== 'ga4')) &&
      page.ask(page.readers, (readers) => readers.addIdentities(body, { config, landing, page, scope })),
    !body.gpc && adapters.size && page.ask(page.extras, (extras) => extras.addCustom(body, adapters)),
  ])
  if (new Blob([JSON.stringify(body)]).size > BODY_BYTES) await page.ask(page.extras, (extras) => extras.fit(body))
}
