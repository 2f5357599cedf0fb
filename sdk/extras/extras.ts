/** The part of the SDK that only some pages load: install commands, custom adapters, and Google's session attributes. */

import { readAdapters } from './adapters.ts'
import { attend, fillOptionsAt } from './copy.ts'
import { createHandoffs } from './handoff.ts'
import { reportProblem } from '../core/page.ts'
import type { Extras } from '../core/types.ts'
import { sessionAttributes } from './session-attributes.ts'

const handoffs = createHandoffs(() => fillOptionsAt(document.documentElement))
const { handoff, fill, command } = handoffs
export const extras: Extras = {
  handoff,
  fill,
  command,
  added: async (landing, adapters) => ({
    google: sessionAttributes(landing, navigator.userAgent),
    custom: await readAdapters(adapters),
  }),
  attend: (page) => {
    handoffs.obey(() => page.isAllowed)
    try {
      attend(page, handoffs)
    } catch (error) {
      reportProblem(error)
    }
  },
}
