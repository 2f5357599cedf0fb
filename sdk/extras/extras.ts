/** The part of the SDK that only some pages load: install commands and custom adapters. */

import { readAdapters } from './adapters.ts'
import { attend } from './copy.ts'
import { createHandoffs } from './handoff.ts'
import { fitBody } from './fit-body.ts'
import { safely } from '../core/page.ts'
import type { Extras } from '../core/types.ts'

const handoffs = createHandoffs()
export const extras: Extras = {
  ...handoffs,
  addCustom: async (body, adapters) => {
    const custom = await readAdapters(adapters)
    body.identities = { ...body.identities, custom }
  },
  fit: async (body) => fitBody(body),
  attend: (page) => {
    page.fill = handoffs.fill
    handoffs.obey(page)
    safely(() => attend(page, handoffs))
  },
}
