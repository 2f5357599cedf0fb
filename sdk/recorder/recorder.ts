/** The part of the SDK that records a visit: with what the service, the tags and the extras know. Other parts read and keep for it. */

import { documentValue } from '../core/document-value.ts'
import { BODY_BYTES } from '../core/limits.ts'
import { markerName } from '../core/marker-name.ts'
import { safely } from '../core/page.ts'
import { KEEPER_PLACE, READER_PLACES } from '../core/places.ts'
import type {
  BrowserConfig,
  Keeper,
  KeptMarker,
  Page,
  PartOfSdk,
  IdentityReader,
  Scope,
  VisitDraft,
  VisitRecorder,
} from '../core/types.ts'
import { findIdentities } from '../readers/identities.ts'
import { clientOf, readHints } from './client.ts'
import { openStorage, readKeptReceipt } from './kept-receipt.ts'

/** How long, and how often, a document waits for the cookies of tags that load beside the SDK: two seconds at most. */
const TAGS_WAIT_MS = 200
let triesLeft = 10

const keeper: PartOfSdk<Keeper> = { place: KEEPER_PLACE }
/** By provider, of those that the page's websites use. */
const readers: Record<string, PartOfSdk<IdentityReader>> = {}

export const recorder: VisitRecorder = {
  attend: (page) => {
    // What came with the address waits for it, and routers are to leave the address alone.
    if (page.view.isOpen) void page.ask(keeper, (part) => part)
  },
  record: async (page, scope, begun) => {
    const { body, send } = begun
    // Tokens only: the visit is sent all the same, and never activated.
    const root = page.tagAttributes.markers === 'off' ? undefined : await openStorage()
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

async function complete(page: Page, scope: Scope, draft: VisitDraft): Promise<void> {
  const { adapters } = scope
  const { body, configuring } = draft
  const settling =
    (page.view.isOpen ?? page.tagAttributes.share) && page.ask(keeper, (part) => part.settle(page, scope, draft))
  body.client = clientOf(await readHints())
  // The mark of a test, from the dashboard; without one the member is left out of the JSON.
  body.test = /#_whence_test=(.+)/.exec(page.view.url)?.[1]
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the service's answer; what is missing in it throws
  const config = (await configuring) as unknown as BrowserConfig
  body.identities = {}
  if (body.gpc) config.providers = []
  await settling
  await Promise.all([
    // Throws if the answer is no configuration.
    addIdentities(page, scope, draft, config),
    !body.gpc && adapters.size && page.ask(page.extras, (extras) => extras.addCustom(body, adapters)),
  ])
  // The extras count bytes; no character of a text has more than three.
  if (JSON.stringify(body).length > BODY_BYTES / 3) await page.ask(page.extras, (extras) => extras.fit(body))
}

/** Adds the identifiers at the website's providers as soon as they are there, and resolves once a visit need not wait for more. */
async function addIdentities(
  page: Page,
  scope: Scope,
  { body, landing }: VisitDraft,
  { measurementIds, providers }: BrowserConfig,
): Promise<void> {
  // A website without providers reads no cookie.
  if (!(measurementIds.length + providers.length)) return
  const arrived: Record<string, IdentityReader> = {}
  const find = () =>
    // Pages may have blocked their cookies: there is nothing to wait for then.
    safely(() => {
      const { identities, areTagsReady } = findIdentities({
        cookies: documentValue('cookie'),
        prefix: page.tagAttributes.ga4CookiePrefix ?? '',
        measurementIds,
        landing,
        readers: arrived,
      })
      // At once, for a visitor who leaves. Adapters may have added theirs meanwhile.
      body.identities = { ...body.identities, ...identities }
      return areTagsReady
    }) ?? true
  find()
  await Promise.all(
    providers.map(async (provider) => {
      const place = READER_PLACES[provider]
      if (place) await page.ask((readers[provider] ??= { place }), (reader) => void (arrived[provider] = reader))
    }),
  )
  while (!find() && triesLeft-- > 0 && !scope.isUrgent)
    await new Promise((resolve) => setTimeout(resolve, TAGS_WAIT_MS))
}
