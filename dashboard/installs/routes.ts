/** Routes of installs and of deliveries: lists, one with its explanation, and sending failed ones again. */

import { DAY_MS, LAST_MOMENT_MS, SECOND_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import { SELECTION_POLICIES } from '../../domain/model.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { NoteActivity } from '../events/activity.ts'
import type { HandlersOf } from '../http/call.ts'
import {
  maybeEmptyParameter,
  ORIGIN_PARAMETERS,
  PERIOD_PARAMETERS,
  textParameter,
  WEBSITE_PARAMETER,
} from '../http/parameters.ts'
import type { RouteRow } from '../http/route.ts'
import { CURSOR_PARAMETER, type Cursors } from '../logs/cursor.ts'
import type { PageClock } from '../reads/walk-back.ts'
import type { ReadScope } from '../reads/scope.ts'
import { DELIVERY_FILTER_SCHEMA, listDeliveries, readDeliveries } from './deliveries.ts'
import { listInstalls, readInstall } from './list.ts'
import { REPLAY_SCHEMA, replayFailed, type ReplayDeliveries } from './replay.ts'

const ORGANIZATION = '/api/organizations/:organization'

const PERIOD_SCHEMA = { website: WEBSITE_PARAMETER, ...PERIOD_PARAMETERS }

const seconds = (description: string): JsonSchema => ({
  type: 'integer',
  description,
  minimum: 0,
  maximum: (LIMITS.retentionDays.max * DAY_MS) / SECOND_MS,
})

/** Of the list of installs and of its export. */
export const INSTALL_LIST_SCHEMA = {
  ...PERIOD_SCHEMA,
  resolution: {
    type: 'string',
    description: 'What was decided of it.',
    enum: ['matched', 'unmatched', 'counted', 'pending'],
  },
  eventType: {
    type: 'string',
    description: 'Which event it is.',
    enum: ['install_started', 'install_completed', 'first_run'],
  },
  path: maybeEmptyParameter('Install path; empty: it has none.', LIMITS.clientHintChars),
  platform: maybeEmptyParameter('Platform; empty: it was not given.', LIMITS.clientHintChars),
  agent: maybeEmptyParameter('Coding agent that ran it; empty: a person.', LIMITS.clientHintChars),
  ranBy: { type: 'string', description: 'Whether any coding agent ran it.', enum: ['agent', 'person'] },
  reason: maybeEmptyParameter('Why it is unmatched; empty: no reason was recorded.', LIMITS.clientHintChars),
  policy: { type: 'string', description: 'How its visit was chosen.', enum: SELECTION_POLICIES },
  visit: textParameter('ID of the visit that it was matched to.', LIMITS.idChars.max),
  ...ORIGIN_PARAMETERS,
  visitSince: {
    type: 'integer',
    description: 'Unix ms, inclusive: when that visit began.',
    minimum: 0,
    maximum: LAST_MOMENT_MS,
  },
  visitUntil: { type: 'integer', description: 'Unix ms, exclusive.', minimum: 0, maximum: LAST_MOMENT_MS },
  leastVisitAge: seconds('Whole seconds from that visit to the install, at least.'),
  visitAgeBelow: seconds('Whole seconds from that visit to the install, fewer than.'),
} as const satisfies Readonly<Record<string, JsonSchema>>

/** Of the list of deliveries and of its export. */
export const DELIVERY_LIST_SCHEMA = { ...PERIOD_SCHEMA, ...DELIVERY_FILTER_SCHEMA } as const

export const INSTALL_ROUTES = {
  installs: {
    method: 'GET',
    path: `${ORGANIZATION}/installs`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Installs, newest first, each with where it came from.',
    query: { ...INSTALL_LIST_SCHEMA, cursor: CURSOR_PARAMETER },
  },
  install: {
    method: 'GET',
    path: `${ORGANIZATION}/installs/:website/:event`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'One install with its verdicts, visits, deliveries and attempts.',
  },
  deliveries: {
    method: 'GET',
    path: `${ORGANIZATION}/deliveries`,
    needs: 'Viewer',
    rate: 'read',
    summary:
      'Deliveries of a period by destination, status and reason, beside the period before, and what providers answered to attempts that failed.',
    query: PERIOD_SCHEMA,
  },
  deliveryList: {
    method: 'GET',
    path: `${ORGANIZATION}/deliveries/list`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Deliveries that changed in a period, the latest first, each with the answer to its last attempt.',
    query: { ...DELIVERY_LIST_SCHEMA, cursor: CURSOR_PARAMETER },
  },
  replayDeliveries: {
    method: 'POST',
    path: `${ORGANIZATION}/deliveries/replay`,
    needs: 'Member',
    rate: 'write',
    summary: 'Send failed deliveries again, up to 50 at a time.',
    body: REPLAY_SCHEMA,
  },
} as const satisfies Record<string, RouteRow>

interface InstallListParts {
  readonly scope: ReadScope
  readonly facts: FactsReader
  readonly cursors: Cursors
  readonly clock: PageClock
}

export function installListHandlers({ scope, facts, cursors, clock }: InstallListParts) {
  return {
    installs: listInstalls(scope, cursors, clock),
    install: readInstall(scope, facts),
    deliveries: readDeliveries(scope),
    deliveryList: listDeliveries(scope, cursors),
  } satisfies Partial<HandlersOf<typeof INSTALL_ROUTES>>
}

interface RedeliveryParts extends Pick<InstallListParts, 'scope' | 'facts'> {
  readonly replayDeliveries: ReplayDeliveries
  readonly noteActivity: NoteActivity
}

export function redeliveryHandlers(parts: RedeliveryParts) {
  return { replayDeliveries: replayFailed(parts) } satisfies Partial<HandlersOf<typeof INSTALL_ROUTES>>
}
