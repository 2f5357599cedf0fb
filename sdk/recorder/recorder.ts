/** The part of the SDK that records a visit: with what the service, the tags and the extras know. Other parts read and keep for it. */

import { BODY_BYTES } from '../core/limits.ts'
import { markerName } from '../core/marker-name.ts'
import { KEEPER_PLACE, READERS_PLACE } from '../core/places.ts'
import type {
  BegunVisit,
  BrowserConfig,
  Keeper,
  KeptMarker,
  Page,
  PartOfSdk,
  Readers,
  Scope,
  VisitRecorder,
} from '../core/types.ts'
import { clientOf, readHints } from './client.ts'
import { openStorage, readKeptReceipt } from './kept-receipt.ts'

const readers: PartOfSdk<Readers> = { place: READERS_PLACE }
const keeper: PartOfSdk<Keeper> = { place: KEEPER_PLACE }

export const recorder: VisitRecorder = {
  attend: (page) => {
    // What came with the address waits for it, and routers are to leave the address alone.
    if (page.view.isOpen) void page.ask(keeper, (part) => part)
  },
  record: async (page, scope, begun) => {
    const { body, send } = begun
    const root = await openStorage()
    if (root) body.previous_receipt = await readKeptReceipt(root, markerName(scope.project, body.url_id))
    await complete(page, scope, begun)
    // Throws if the answer is none: the visit is abandoned.
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the service's answer; what is missing in it throws
    const { marker } = (await send()) as unknown as { marker: KeptMarker }
    if (!marker.receipt) return
    scope.currentReceipt = marker.receipt
    await page.ask(keeper, (part) => part.keep(scope, body, marker, root))
  },
  complete,
  forget: (page, scope) => void page.ask(keeper, (part) => part.forget(page, scope)),
}

async function complete(page: Page, scope: Scope, begun: Pick<BegunVisit, 'body' | 'landing'>): Promise<void> {
  const { project, adapters } = scope
  const { body, landing } = begun
  const settling =
    (page.view.isOpen ?? page.tagAttributes.share) && page.ask(keeper, (part) => part.settle(page, scope, begun))
  body.client = clientOf(await readHints())
  // The mark of a test, from the dashboard; without one the member is left out of the JSON.
  body.test = /#_whence_test=(.+)/.exec(page.view.url)?.[1]
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the service's answer; what is missing in it throws
  const config = (await scope.send(`v1/projects/${project}/browser-config`)) as unknown as BrowserConfig
  body.identities = {}
  if (body.gpc) config.providers = []
  await settling
  await Promise.all([
    // Throws if the answer is no configuration.
    (config.measurementIds.length || config.providers.some((provider) => provider !== 'ga4')) &&
      page.ask(readers, (part) => part.addIdentities(body, { config, landing, page, scope })),
    !body.gpc && adapters.size && page.ask(page.extras, (extras) => extras.addCustom(body, adapters)),
  ])
  // The extras count bytes; no character of a text has more than three.
  if (JSON.stringify(body).length > BODY_BYTES / 3) await page.ask(page.extras, (extras) => extras.fit(body))
}
