/** The part of the SDK that only some pages load: install commands, custom adapters, and Google's session attributes. */

import type { Adapters } from './adapters.ts'
import { readAdapters } from './adapters.ts'
import { attend, fillOptionsAt } from './copy.ts'
import { createHandoffs } from './handoff.ts'
import type { Added } from '../core/identities.ts'
import type { Page } from '../core/page.ts'
import { report } from '../core/page.ts'
import { sessionAttributes } from './session-attributes.ts'
import type { Landing } from '../core/source.ts'

const handoffs = createHandoffs(() => fillOptionsAt(document.documentElement))
const { handoff, fill, command } = handoffs
export const extras = {
  handoff,
  fill,
  command,
  /** Adds to a visit what only some websites and landings need. Not called under Global Privacy Control. */
  added: async (landing: Landing, adapters: Adapters): Promise<Added> => ({
    google: sessionAttributes(landing, navigator.userAgent),
    custom: await readAdapters(adapters),
  }),
  attend: (page: Page) => {
    handoffs.obey(() => page.isAllowed)
    try {
      attend(page, handoffs)
    } catch (error) {
      report(error)
    }
  },
}

/** What the core calls once the extras are here. */
export type Extras = typeof extras
