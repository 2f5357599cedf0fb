/** The one table of the dashboard's routes, from the tables of its areas. Tests and OpenAPI walk it. */

import { BILLING_ROUTES } from './billing/routes.ts'
import { CONFIGURATION_ROUTES } from './configuration/routes.ts'
import { EXPORT_ROUTES } from './exports/routes.ts'
import { FIGURE_ROUTES } from './figures/routes.ts'
import { INSTALL_ROUTES } from './installs/routes.ts'
import { LOG_ROUTES } from './logs/routes.ts'
import { PEOPLE_ROUTES } from './people/routes.ts'
import { REPLAY_ROUTES } from './replays/routes.ts'
import { SIGN_IN_ROUTES } from './sign-in/routes.ts'
import { STREAM_ROUTES } from './streams/routes.ts'
import { SUPPORT_ROUTES } from './support/routes.ts'
import { VISIT_ROUTES } from './visits/routes.ts'
import { WEBHOOK_ROUTES } from './webhooks/routes.ts'

export const ROUTES = {
  ...SIGN_IN_ROUTES,
  ...PEOPLE_ROUTES,
  ...CONFIGURATION_ROUTES,
  ...FIGURE_ROUTES,
  ...LOG_ROUTES,
  ...VISIT_ROUTES,
  ...INSTALL_ROUTES,
  ...EXPORT_ROUTES,
  ...REPLAY_ROUTES,
  ...STREAM_ROUTES,
  ...WEBHOOK_ROUTES,
  ...SUPPORT_ROUTES,
  ...BILLING_ROUTES,
} as const
