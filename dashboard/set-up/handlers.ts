/** Handlers of the set-up. */

import type { SET_UP_ROUTES } from '../api/configuration.ts'
import type { HandlersOf } from '../http/call.ts'
import type { ReadScope } from '../reads/scope.ts'
import type { PageClock } from '../reads/walk-back.ts'
import { tryDestinationOf, type TrialParts } from './destination-trial.ts'
import { checkPageOf, type PageCheckParts } from './page-check.ts'
import { readTroubles } from './troubles.ts'

interface SetUpReadParts {
  readonly scope: ReadScope
  readonly clock: PageClock
}

/** They only read facts. */
export function setUpReadHandlers({ scope, clock }: SetUpReadParts) {
  return { setUp: readTroubles({ scope, clock }) } satisfies Partial<HandlersOf<typeof SET_UP_ROUTES>>
}

/** They call what is outside. */
export function setUpCallHandlers(parts: PageCheckParts & TrialParts) {
  return { checkPage: checkPageOf(parts), tryDestination: tryDestinationOf(parts) } satisfies Partial<
    HandlersOf<typeof SET_UP_ROUTES>
  >
}
