/** The part of the SDK that only some pages load: install commands, custom adapters, and Google's session attributes. */

import { readAdapters } from './adapters.ts'
import { attend, fillOptionsAt } from './copy.ts'
import { createHandoffs } from './handoff.ts'
import type { ExtrasScript, Page } from './page.ts'
import { sessionAttributes } from './session-attributes.ts'
import type { PageView } from './source.ts'

const handoffs = createHandoffs(() => fillOptionsAt(document.documentElement))
const { handoff, fill, command } = handoffs
const extras = {
  handoff,
  fill,
  command,
  readAdapters,
  sessionAttributes: (view: PageView) => sessionAttributes(view, navigator.userAgent),
  attend: (page: Page) => {
    handoffs.obey(() => page.isAllowed)
    try {
      attend(page, handoffs)
    } catch (error) {
      page.report(error)
    }
  },
}

/** What the core finds behind the script element. */
export type Extras = typeof extras

// An element named `currentScript` shadows the property; the core then goes on without the extras.
;(document.currentScript as ExtrasScript | null)?.whence?.(extras)
