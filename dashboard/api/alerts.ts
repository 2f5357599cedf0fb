/** The route of alerts. Their rules are fields of the Organization. */

import { Type } from 'typebox'

import { ALERT_KINDS, ARRIVALS } from '../../domain/alerts/alert.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import type { RouteRow } from './route.ts'
import { MAYBE_TIME, NUMBER, TEXT, TIME } from './shapes.ts'

/** Most open ones that are listed, and most closed ones. */
export const MOST_ALERTS = 200

const SHOWN_ALERT = Type.Object(
  {
    id: TEXT,
    rule: oneOf(ALERT_KINDS),
    of: oneOf(['', ...ARRIVALS]),
    website: Type.String({ description: 'ID of the website; empty if it is about the organisation.' }),
    period: Type.String({ description: "The day of the organisation's time zone that opened it, or the month." }),
    openedAt: TIME,
    closedAt: MAYBE_TIME,
    end: Type.String({ description: 'Why it was closed; empty while it is open.' }),
    value: NUMBER,
    expected: NUMBER,
    threshold: NUMBER,
    title: TEXT,
    message: Type.String({ description: 'What was measured, in words.' }),
    advice: Type.String({ description: 'What it may mean, and where to look.' }),
  },
  { $id: 'ShownAlert' },
)

export const ALERT_ROUTES = {
  alerts: {
    method: 'GET',
    path: '/api/organizations/:organization/alerts',
    needs: 'Viewer',
    rate: 'read',
    summary: `Alerts that are open, the newest first, and at most ${MOST_ALERTS} that were closed.`,
    answers: { 200: Type.Object({ open: Type.Array(SHOWN_ALERT), past: Type.Array(SHOWN_ALERT) }) },
  },
} as const satisfies Readonly<Record<string, RouteRow>>
