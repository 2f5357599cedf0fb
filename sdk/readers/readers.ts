/** The part of the SDK for websites with providers: reads the identifiers by which they recognise a visitor. */

import { documentValue } from '../core/document-value.ts'
import type { Readers } from '../core/types.ts'
import { cookieReader } from './cookies.ts'
import { areTagsReady, identitiesIn } from './identities.ts'

/** How long, and how often, a document waits for the cookies of tags that load beside the SDK: two seconds at most. */
const TAGS_WAIT_MS = 200
let triesLeft = 10

export const readers: Readers = {
  addIdentities: async (body, { config, landing, page, scope }) => {
    for (;;) {
      const cookie = cookieReader(documentValue('cookie'))
      const sources = { ...config, cookie, cookiePrefix: page.tagAttributes.ga4CookiePrefix ?? '', landing }
      // At once, for a visitor who leaves. Adapters may have added theirs meanwhile.
      body.identities = { ...body.identities, ...identitiesIn(sources) }
      if (triesLeft-- <= 0 || scope.isUrgent || areTagsReady(sources)) return
      await new Promise((resolve) => setTimeout(resolve, TAGS_WAIT_MS))
    }
  },
}
