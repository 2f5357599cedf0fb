/** Routes of "what if": what another policy would have decided about installs of a period. */

import { Type } from 'typebox'

import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS, REPLAY_RULES } from '../../domain/limits.ts'
import { SELECTION_POLICIES, VISIT_POLICIES } from '../../domain/model.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import type { RouteRow } from './route.ts'
import { FLAG, maybe, NUMBER, TEXT, TIME } from './shapes.ts'

const PATH = '/api/organizations/:organization/replays'
const REPLAY = `${PATH}/:replay` as const
const WINDOW_DAYS = LIMITS.receiptLifetimeMs / DAY_MS
const MOST_INSTALLATIONS = LIMITS.replayInstallations.toLocaleString('en')

const LINE = {
  id: TEXT,
  website: TEXT,
  askedAt: TIME,
  since: TIME,
  until: TIME,
  policy: oneOf(VISIT_POLICIES),
  windowDays: NUMBER,
  tokensOnly: FLAG,
  state: oneOf(['waiting', 'running', 'done', 'failed', 'cancelled']),
  installs: Type.Number({ description: 'Installs decided so far.' }),
  failure: maybe(
    oneOf(['too_many_installations', 'given_up', 'failed']),
    'Why it has no result; null unless its state is `failed`.',
  ),
  progress: Type.Number({ description: 'The part of the period that is decided again, from 0 to 1.' }),
}

const POLICY = oneOf(SELECTION_POLICIES)

const CHANGE = Type.Object(
  {
    eventId: TEXT,
    receivedAtMs: NUMBER,
    visitId: maybe(TEXT),
    selectionPolicy: POLICY,
    source: maybe(TEXT),
    replayedVisitId: maybe(TEXT),
    replayedPolicy: POLICY,
    replayedSource: maybe(TEXT),
  },
  { $id: 'ReplayChange' },
)

const RESULT = Type.Object(
  {
    installs: NUMBER,
    matched: NUMBER,
    replayedMatched: NUMBER,
    notDecided: Type.Number({ description: 'Only counted, or still pending.' }),
    changed: NUMBER,
    sources: Type.Array(
      Type.Object(
        {
          source: Type.String({ description: 'Of the campaign; empty if the visit names none.' }),
          lost: NUMBER,
          gained: NUMBER,
        },
        { $id: 'SourceDifference' },
      ),
    ),
    changes: Type.Array(CHANGE),
  },
  { $id: 'ShownReplayResult' },
)

export const REPLAY_ROUTES = {
  askReplay: {
    method: 'POST',
    path: PATH,
    needs: 'Member',
    rate: 'write',
    summary: `Have the installs of a period decided again under another policy; nothing is sent and nothing changes. It ends if whoever asked for it is removed, gets a lower role or signs out, and fails as \`too_many_installations\` above ${MOST_INSTALLATIONS} installations within ${WINDOW_DAYS} days. ${REPLAY_RULES.decision_replays.limit} an hour.`,
    body: Type.Object({
      website: Type.String({ minLength: 1, maxLength: LIMITS.websiteIdChars }),
      policy: oneOf(VISIT_POLICIES, 'Which of several visits counts.'),
      windowDays: Type.Optional(
        Type.Integer({
          description: `Only visits of so many days before the install count; ${WINDOW_DAYS} if absent.`,
          minimum: 1,
          maximum: WINDOW_DAYS,
        }),
      ),
      tokensOnly: Type.Optional(Type.Boolean({ description: 'Only tokens of copied install commands count.' })),
      since: Type.Integer({
        description: `Installs received from then on, Unix ms; at most ${LIMITS.replayPeriodMs / DAY_MS} days before \`until\`.`,
        minimum: 0,
      }),
      until: Type.Optional(Type.Integer({ description: 'Exclusive; now if absent.', minimum: 0 })),
    }),
    answers: { 202: Type.Object({ id: TEXT }) },
  },
  listReplays: {
    method: 'GET',
    path: PATH,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Replays requested within the last seven days, newest first, with their progress.',
    query: { website: Type.String({ description: 'Only those of this website.', maxLength: LIMITS.websiteIdChars }) },
    answers: { 200: Type.Object({ replays: Type.Array(Type.Object(LINE, { $id: 'ReplayLine' })) }) },
  },
  showReplay: {
    method: 'GET',
    path: REPLAY,
    needs: 'Viewer',
    rate: 'read',
    summary: `One of them with what each source would lose or gain, and ${LIMITS.logsPerPage} of the installs that would change.`,
    query: {
      from: Type.Integer({ description: 'How many of the changed installs to skip.', minimum: 0, maximum: 10_000 }),
    },
    answers: { 200: Type.Object({ ...LINE, result: maybe(RESULT, 'Null until it is done.') }) },
  },
  cancelReplay: {
    method: 'POST',
    path: `${REPLAY}/cancel`,
    needs: 'Member',
    rate: 'write',
    summary:
      'Cancel a replay that waits or runs: it stops within seconds, has no result, and its state is `cancelled`.',
    answers: { 202: Type.Object({ id: TEXT }) },
  },
} as const satisfies Record<string, RouteRow>
