/**
 * The queries of the dashboard's pages. Each is bounded to the websites or the organisation that
 * `dashboard/reads/scope.ts` fills in, and takes at most 250 ms of the engine's time.
 */

import { ACTIVITY_QUERIES } from './activity.ts'
import { DELIVERY_QUERIES } from './deliveries.ts'
import { COUNTED_INSTALL_QUERIES } from './counted-installs.ts'
import { FIGURE_QUERIES } from './figures.ts'
import { FIND_QUERIES } from './find.ts'
import { INSTALL_QUERIES } from './installs.ts'
import { LOG_QUERIES } from './logs.ts'
import { REPLAY_PAGE_QUERIES } from './replay.ts'
import { SPEND_QUERIES } from './spend.ts'
import { ALERT_QUERIES } from './alerts.ts'
import { STREAM_PAGE_QUERIES } from './streams.ts'
import { OUTCOME_QUERIES } from './install-outcomes.ts'
import { VISIT_QUERIES } from './visits.ts'
import { WEBHOOK_QUERIES } from './webhooks.ts'

export const PAGE_QUERIES = {
  ...FIGURE_QUERIES,
  ...COUNTED_INSTALL_QUERIES,
  ...LOG_QUERIES,
  ...ACTIVITY_QUERIES,
  ...INSTALL_QUERIES,
  ...FIND_QUERIES,
  ...DELIVERY_QUERIES,
  ...REPLAY_PAGE_QUERIES,
  ...SPEND_QUERIES,
  ...ALERT_QUERIES,
  ...STREAM_PAGE_QUERIES,
  ...OUTCOME_QUERIES,
  ...VISIT_QUERIES,
  ...WEBHOOK_QUERIES,
} as const
export type PageQueryName = keyof typeof PAGE_QUERIES
