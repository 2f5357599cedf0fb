/** The part of the SDK that records a visit: with what the service, the tags and the extras know. Other parts read and keep for it. */

import { BODY_BYTES } from '../core/limits.ts'
import { markerName } from '../core/marker-name.ts'
import { READERS } from '../core/places.ts'
import type { BrowserConfig, KeptMarker, Page, Scope, VisitDraft, VisitRecorder } from '../core/types.ts'
import { ga4 } from '../readers/ga4.ts'
import type { Readers } from '../readers/identities.ts'
import { findIdentities } from '../readers/identities.ts'
import { clientOf, readHints } from './client.ts'
import { readKeptReceipt } from './kept-receipt.ts'

/** How long, and how often, a document waits for the cookies of tags that load beside the SDK: two seconds at most. */
const TAGS_WAIT_MS = 200
let triesLeft = 10

export const recorder: VisitRecorder = {
  record: async (page, scope, draft, send) => {
    const { body } = draft
    body.previous_receipt = await readKeptReceipt(markerName(scope.project, body.url_id))
    await complete(page, scope, draft)
    // Throws if the answer is none: the visit is abandoned.
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the service's answer; what is missing in it throws
    const { marker } = (await send()) as unknown as { marker: KeptMarker }
    if (!marker.receipt) return
    scope.currentReceipt = marker.receipt
    await page.ask(page.keeper, (part) => part.keep(scope, body, marker))
  },
  complete,
}

async function complete(page: Page, scope: Scope, draft: VisitDraft): Promise<void> {
  const { adapters } = scope
  const { body, landing, configuring } = draft
  const settling =
    (page.view.isOpen ?? page.tagAttributes.share) &&
    page.ask(page.keeper, (keeper) => keeper.settle(page, scope, draft))
  body.client = clientOf(await readHints())
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the service's answer; what is missing in it throws
  const { measurementIds, providers } = (await configuring) as unknown as BrowserConfig
  // A website without providers reads no cookie. Throws if the answer is no configuration.
  const readers: Readers = {
    ga4: measurementIds.length ? ga4(measurementIds, page.tagAttributes.ga4CookiePrefix) : undefined,
  }
  await settling
  body.identities = {}
  const adding = !body.gpc && adapters.size && page.askExtras((extras) => extras.addCustom(body, adapters))
  const find = () => {
    try {
      const [identities, areTagsReady] = findIdentities(readers, landing, page)
      // At once, for a visitor who leaves. Adapters may have added theirs meanwhile.
      body.identities = { ...body.identities, ...identities }
      return areTagsReady
    } catch {
      // The page may have blocked its cookies: there is nothing to wait for then.
      return true
    }
  }
  find()
  await Promise.all(
    providers.map(async (provider) => {
      const part = READERS[provider]
      if (part && !body.gpc) await page.ask(part, (reader) => void (readers[provider] = reader))
    }),
  )
  while (!find() && triesLeft-- > 0 && !scope.isUrgent) {
    await page.wait(TAGS_WAIT_MS)
    // A command that is there now is not to wait for the visit.
    page.resume()
  }
  await adding
  // The extras count bytes; no character of a text has more than three.
  if (JSON.stringify(body).length > BODY_BYTES / 3) await page.askExtras((extras) => extras.fit(body))
}
