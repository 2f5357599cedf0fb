/** The one table of the dashboard's routes, from the tables of its areas. Tests and OpenAPI walk it. */

import { ALERT_ROUTES } from './alerts.ts'
import { BILLING_ROUTES } from './billing.ts'
import { CONFIGURATION_ROUTES, SET_UP_ROUTES } from './configuration.ts'
import { EXPORT_ROUTES } from './exports.ts'
import { FIGURE_ROUTES } from './figures.ts'
import { INSTALL_ROUTES } from './installs.ts'
import { KEY_ROUTES } from './keyed.ts'
import { KEY_ADMIN_ROUTES } from './keys.ts'
import { LINK_ADMIN_ROUTES, SHARE_ROUTES } from './links.ts'
import { LOG_ROUTES } from './logs.ts'
import { PEOPLE_ROUTES, WEEKLY_ROUTES } from './people.ts'
import { REPLAY_ROUTES } from './replays.ts'
import { SIGN_IN_ROUTES } from './sign-in.ts'
import { SPEND_ROUTES } from './spend.ts'
import { STREAM_ROUTES } from './streams.ts'
import { SUPPORT_ROUTES } from './support.ts'
import { VISIT_ROUTES } from './visits.ts'
import type { DeclaredJson, AnswerStatus } from './route.ts'
import { WEBHOOK_ROUTES } from './webhooks.ts'

export const ROUTES = {
  ...SIGN_IN_ROUTES,
  ...PEOPLE_ROUTES,
  ...CONFIGURATION_ROUTES,
  ...SET_UP_ROUTES,
  ...FIGURE_ROUTES,
  ...ALERT_ROUTES,
  ...LOG_ROUTES,
  ...VISIT_ROUTES,
  ...INSTALL_ROUTES,
  ...EXPORT_ROUTES,
  ...REPLAY_ROUTES,
  ...SPEND_ROUTES,
  ...STREAM_ROUTES,
  ...WEBHOOK_ROUTES,
  ...SUPPORT_ROUTES,
  ...BILLING_ROUTES,
  ...WEEKLY_ROUTES,
  ...KEY_ADMIN_ROUTES,
  ...KEY_ROUTES,
  ...LINK_ADMIN_ROUTES,
  ...SHARE_ROUTES,
} as const

export type RouteName = keyof typeof ROUTES

/** The JSON that a route answers, with any of its statuses or with this one. */
export type JsonFrom<Name extends RouteName, Status extends AnswerStatus = AnswerStatus> = DeclaredJson<
  (typeof ROUTES)[Name],
  Status
>
