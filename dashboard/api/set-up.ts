/** Routes of the set-up: what keeps its steps from completing, and what a page's source says. */

import { Type } from 'typebox'

import { LIMITS, REPLAY_RULES } from '../../domain/limits.ts'
import { PLANS } from '../../domain/model.ts'
import { PAGE_FAILURES, PAGE_FINDINGS } from '../../domain/onboarding/page-check.ts'
import { SET_UP_TROUBLES } from '../../domain/onboarding/troubles.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import type { RouteRow } from './route.ts'
import { MAYBE_TIME, maybe, NUMBER, TEXT, WEBSITE_PARAMETER } from './shapes.ts'

const TROUBLE = Type.Object(
  {
    step: oneOf(['visit_seen', 'hook_reached', 'install_matched'], 'The step of the checklist that it keeps open.'),
    trouble: oneOf(SET_UP_TROUBLES, 'What is wrong.'),
    origin: maybe(TEXT, 'The origin that is not registered; null where there is none to name.'),
    at: maybe(NUMBER, 'Unix ms, of the newest; null for what holds whatever comes.'),
    count: NUMBER,
  },
  { $id: 'SetUpTrouble' },
)

const { page_checks: CHECKS } = REPLAY_RULES

export const SET_UP_ROUTES = {
  setUp: {
    method: 'GET',
    path: '/api/organizations/:organization/set-up',
    needs: 'Viewer',
    rate: 'read',
    query: { website: WEBSITE_PARAMETER },
    summary: 'What keeps steps of the set-up from completing, by the requests of the last hour and the newest install.',
    answers: {
      200: Type.Object({
        plan: oneOf(PLANS, 'Of the organisation.'),
        seen: Type.Object(
          { visit: MAYBE_TIME, activation: MAYBE_TIME, handoff: MAYBE_TIME, install: MAYBE_TIME },
          { description: 'When the newest of the last hour was taken, tests included.' },
        ),
        troubles: Type.Array(TROUBLE),
      }),
    },
  },
  checkPage: {
    method: 'POST',
    path: '/api/organizations/:organization/websites/:website/page-checks',
    needs: 'Member',
    rate: 'write',
    body: Type.Object({
      url: Type.String({
        description: 'Address of a page on one of the origins of the website.',
        minLength: 1,
        maxLength: LIMITS.outboundUrlChars,
      }),
    }),
    summary: `Fetch a page and say what its source lacks; nothing of the page is passed on. ${CHECKS.limit} an hour for the organisation, one at a time.`,
    answers: {
      200: Type.Object({
        failure: maybe(oneOf(PAGE_FAILURES), 'Why the page could not be read; null if it was.'),
        status: maybe(NUMBER, 'Of the answer; null if none came.'),
        findings: Type.Array(oneOf(PAGE_FINDINGS), { description: 'The most certain first; none without a page.' }),
      }),
    },
  },
} as const satisfies Record<string, RouteRow>
