/** Routes of installs and of deliveries: lists, one with its explanation, and sending failed ones again. */

import { Type } from 'typebox'

import { DAY_MS, LAST_MOMENT_MS, SECOND_MS } from '../../domain/durations.ts'
import { INSTALL_KINDS } from '../../domain/figures/install-kinds.ts'
import { LIMITS } from '../../domain/limits.ts'
import { DESTINATION_MODES, SELECTION_POLICIES } from '../../domain/model.ts'
import { PROVIDER_IDS } from '../../domain/providers/index.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import { INSTALL_DETAIL, INSTALL_LINE } from './install-facts.ts'
import {
  ANSWERED_PERIOD,
  COMPARED_PERIOD_PARAMETERS,
  NAMED_PERIOD_PARAMETERS,
  NULL_IF_NOT_COMPARED,
} from './periods.ts'
import type { RouteRow } from './route.ts'
import {
  CURSOR_PARAMETER,
  FILTER_PARAMETER,
  FLAG,
  LEFT_OUT_PARAMETER,
  maybeEmptyParameter,
  NEXT,
  maybe,
  NUMBER,
  PERIOD_PARAMETERS,
  SOURCED_VISIT,
  TEXT,
  textParameter,
  TIME,
  WEBSITE_PARAMETER,
} from './shapes.ts'

const ORGANIZATION = '/api/organizations/:organization'

const PERIOD = { website: WEBSITE_PARAMETER, ...PERIOD_PARAMETERS }

const seconds = (description: string) =>
  Type.Integer({ description, minimum: 0, maximum: (LIMITS.retentionDays.max * DAY_MS) / SECOND_MS })
const moment = (description: string) => Type.Integer({ description, minimum: 0, maximum: LAST_MOMENT_MS })

/** Of the list of installs and of its export. */
export const INSTALL_LIST_QUERY = {
  ...PERIOD,
  resolution: oneOf(['matched', 'unmatched', 'counted', 'pending'], 'What was decided of it.'),
  eventType: oneOf(['install_started', 'install_completed', 'first_run'], 'Which event it is.'),
  kind: oneOf(INSTALL_KINDS, 'What figures count it as.'),
  filter: FILTER_PARAMETER,
  ranBy: oneOf(['agent', 'person'], 'Whether any coding agent ran it.'),
  reason: maybeEmptyParameter('Why it is unmatched; empty: no reason was recorded.', LIMITS.clientHintChars),
  policy: oneOf(SELECTION_POLICIES, 'How its visit was chosen.'),
  visit: textParameter('ID of the visit that it was matched to.', LIMITS.idChars.max),
  visitSince: moment('Unix ms, inclusive: when that visit began.'),
  visitUntil: moment('Unix ms, exclusive.'),
  leastVisitAge: seconds('Whole seconds from that visit to the install, at least.'),
  visitAgeBelow: seconds('Whole seconds from that visit to the install, fewer than.'),
  leftOut: LEFT_OUT_PARAMETER,
} as const

/** Of the list of deliveries and of its export. */
export const DELIVERY_LIST_QUERY = {
  website: WEBSITE_PARAMETER,
  ...NAMED_PERIOD_PARAMETERS,
  filter: FILTER_PARAMETER,
  destination: textParameter('One destination.', LIMITS.groupChars),
  status: oneOf(['pending', 'retrying', 'delivered', 'skipped', 'expired', 'failed'], 'How it stands.'),
  reason: textParameter('Why it stands so.', LIMITS.clientHintChars),
  code: textParameter('An attempt of the period was answered with this code.', LIMITS.clientHintChars),
  answered: Type.Integer({
    description: 'And with this status; 0: there was no answer.',
    minimum: 0,
    maximum: 999,
  }),
} as const

export const SOURCED_INSTALL = Type.Object(
  { install: INSTALL_LINE, visit: maybe(SOURCED_VISIT, 'The visit that it was matched to, if that still exists.') },
  { $id: 'SourcedInstall' },
)

const DELIVERY_GROUP = Type.Object(
  {
    website: TEXT,
    destination: TEXT,
    provider: TEXT,
    status: TEXT,
    reason: TEXT,
    deliveries: NUMBER,
    first_ms: Type.Number({ description: 'When the first and the last of them changed.' }),
    last_ms: NUMBER,
    example: Type.String({ description: 'The event of the latest of these deliveries.' }),
    expiring: Type.Number({
      description: 'Of the deliveries that have not ended: how many will end within two hours.',
    }),
    replayable: Type.Number({
      description: 'Of the failed deliveries: how many the provider would still accept.',
    }),
  },
  { $id: 'DeliveryGroup' },
)

const DELIVERY_ERROR = Type.Object(
  {
    website: TEXT,
    destination: TEXT,
    provider: TEXT,
    status: Type.Number({ description: 'Status of the answer; 0 if there was none.' }),
    code: TEXT,
    deliveries: NUMBER,
    tries: NUMBER,
    first_ms: NUMBER,
    last_ms: NUMBER,
    example: Type.String({ description: 'The event of the latest of these attempts.' }),
    words: Type.String({ description: "The provider's words in the latest of them." }),
  },
  { $id: 'DeliveryError' },
)

const ANSWERED_DELIVERY = Type.Object(
  {
    delivery: Type.Object({
      destination: TEXT,
      reason: TEXT,
      website: TEXT,
      status: TEXT,
      event_id: TEXT,
      job_id: TEXT,
      provider: TEXT,
      detail: TEXT,
      attempts: NUMBER,
      changed_at_ms: NUMBER,
      next_attempt_at_ms: maybe(NUMBER),
      deadline_at_ms: maybe(NUMBER),
    }),
    last: maybe(
      Type.Object({ status: NUMBER, code: TEXT, words: TEXT }),
      'What its last attempt was answered; null if there was none.',
    ),
  },
  { $id: 'AnsweredDelivery' },
)

const SHOWN_DESTINATION = Type.Object({
  website: TEXT,
  id: TEXT,
  displayName: TEXT,
  provider: oneOf(PROVIDER_IDS),
  mode: oneOf(DESTINATION_MODES),
})

const GROUPS = Type.Array(DELIVERY_GROUP)

export const INSTALL_ROUTES = {
  installs: {
    method: 'GET',
    path: `${ORGANIZATION}/installs`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Installs, newest first, each with where it came from.',
    query: { ...INSTALL_LIST_QUERY, cursor: CURSOR_PARAMETER },
    answers: {
      200: Type.Object({
        installs: Type.Array(SOURCED_INSTALL),
        searchedBackTo: Type.Number({ description: 'Unix ms: the search is complete from this time on.' }),
        next: NEXT,
      }),
    },
  },
  install: {
    method: 'GET',
    path: `${ORGANIZATION}/installs/:website/:event`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'One install with its verdicts, visits, deliveries and attempts.',
    answers: { 200: INSTALL_DETAIL },
  },
  find: {
    method: 'GET',
    path: `${ORGANIZATION}/find`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'What an ID names: an install event, a visit, a delivery by its job, or a request.',
    query: { id: textParameter('The whole ID.', LIMITS.idChars.max) },
    answers: {
      200: Type.Object({
        found: Type.Array(
          Type.Object({
            kind: oneOf(['install', 'visit', 'delivery', 'request'], 'What it is.'),
            website: TEXT,
            id: Type.String({ description: 'Of the event of an install or delivery; else the ID itself.' }),
            at: maybe(NUMBER, 'Of a request: when it came, Unix ms.'),
          }),
        ),
      }),
    },
  },
  deliveries: {
    method: 'GET',
    path: `${ORGANIZATION}/deliveries`,
    needs: 'Viewer',
    rate: 'read',
    summary:
      'Deliveries of a period by destination, status and reason, beside the period that it is compared with, and what providers answered to attempts that failed.',
    query: { website: WEBSITE_PARAMETER, ...COMPARED_PERIOD_PARAMETERS, filter: FILTER_PARAMETER },
    answers: {
      200: Type.Object({
        ...ANSWERED_PERIOD,
        isCut: Type.Boolean({ description: 'The period was longer: these are its last 90 days.' }),
        destinations: Type.Array(SHOWN_DESTINATION),
        groups: GROUPS,
        before: maybe(Type.Object({ groups: GROUPS }), NULL_IF_NOT_COMPARED),
        errors: Type.Array(DELIVERY_ERROR),
      }),
    },
  },
  deliveryList: {
    method: 'GET',
    path: `${ORGANIZATION}/deliveries/list`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Deliveries that changed in a period, the latest first, each with the answer to its last attempt.',
    query: { ...DELIVERY_LIST_QUERY, cursor: CURSOR_PARAMETER },
    answers: {
      200: Type.Object({ since: TIME, until: TIME, deliveries: Type.Array(ANSWERED_DELIVERY), next: NEXT }),
    },
  },
  replayDeliveries: {
    method: 'POST',
    path: `${ORGANIZATION}/deliveries/replay`,
    needs: 'Member',
    rate: 'write',
    summary: 'Send failed deliveries again, up to 50 at a time.',
    body: Type.Object({
      website: textParameter('The website.', LIMITS.websiteIdChars),
      destination: Type.Optional(textParameter('One destination instead of all.', LIMITS.groupChars)),
      reason: Type.Optional(
        textParameter(
          'Only those that failed for this reason. Without it, none that the provider may count twice (`unclear_too_long`).',
          LIMITS.clientHintChars,
        ),
      ),
      job: Type.Optional(textParameter('One delivery, by its job ID.', LIMITS.idChars.max)),
    }),
    answers: { 200: Type.Object({ replayed: NUMBER, refused: NUMBER, mayHaveMore: FLAG }) },
  },
} as const satisfies Record<string, RouteRow>
