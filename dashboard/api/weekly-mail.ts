/** Routes about the weekly mail, as each member chooses it for themselves. */

import { Type } from 'typebox'

import { oneOf } from '../../runtime/http/shapes.ts'
import type { RouteRow } from './route.ts'

const PATH = '/api/organizations/:organization/weekly-mail'

/** `ended`: by the person, whatever their Member says. `group`: they belong to the organisation by a group. `no_mail`: this service sends no mail. */
const WEEKLY_MAIL_STATES = ['on', 'off', 'ended', 'group', 'no_mail'] as const

export const WEEKLY_ROUTES = {
  weeklyMail: {
    method: 'GET',
    path: PATH,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Whether whoever asks gets the weekly mail, and if not, why.',
    answers: { 200: Type.Object({ state: oneOf(WEEKLY_MAIL_STATES) }) },
  },
  chooseWeeklyMail: {
    method: 'PUT',
    path: PATH,
    needs: 'Viewer',
    rate: 'write',
    refuses: ['conflict', 'managed_elsewhere', 'mail_not_configured'],
    summary: 'Turn your own weekly mail on or off. Off holds whatever your Member says.',
    body: Type.Object({ isOn: Type.Boolean({ description: 'Whether you want it.' }) }),
    answers: { 204: null },
  },
} as const satisfies Record<string, RouteRow>
