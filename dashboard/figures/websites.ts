/** The websites of an organisation, which pages offer as a filter. It needs no facts, so it is there while they are not. */

import { answer } from '../http/call.ts'
import type { ReadScope } from '../reads/scope.ts'

export function listWebsites(scope: ReadScope) {
  return scope(async ({ websites }) =>
    answer({ websites: websites.map(({ id, displayName }) => ({ id, displayName })) }),
  )
}
