/** Routes of "what if": what another policy would have decided about installs of a period. */

import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS, REPLAY_RULES } from '../../domain/limits.ts'
import { VISIT_POLICIES } from '../../domain/model.ts'
import { objectSchema } from '../../domain/schema/json-schema.ts'
import type { HandlersOf } from '../http/call.ts'
import type { RouteRow } from '../http/route.ts'
import { askReplay, type AskParts } from './ask.ts'
import { cancelReplay } from './cancel.ts'
import { listReplays, showReplay } from './show.ts'
import { startReplayWatch } from './watch.ts'

const PATH = '/api/organizations/:organization/replays'
const WINDOW_DAYS = LIMITS.receiptLifetimeMs / DAY_MS
const MOST_INSTALLATIONS = LIMITS.replayInstallations.toLocaleString('en')
const MOMENT = { type: 'integer', minimum: 0 } as const

export const REPLAY_ROUTES = {
  askReplay: {
    method: 'POST',
    path: PATH,
    needs: 'Member',
    rate: 'write',
    summary: `Have the installs of a period decided again under another policy; nothing is sent and nothing changes. It ends if whoever asked for it is removed, gets a lower role or signs out, and fails as \`too_many_installations\` above ${MOST_INSTALLATIONS} installations within ${WINDOW_DAYS} days. ${REPLAY_RULES.decision_replays.limit} an hour.`,
    body: objectSchema(
      {
        website: { type: 'string', minLength: 1, maxLength: LIMITS.websiteIdChars },
        policy: { type: 'string', description: 'Which of several visits counts.', enum: VISIT_POLICIES },
        windowDays: {
          type: 'integer',
          minimum: 1,
          maximum: WINDOW_DAYS,
          description: `Only visits of so many days before the install count; ${WINDOW_DAYS} if absent.`,
        },
        tokensOnly: { type: 'boolean', description: 'Only tokens of copied install commands count.' },
        since: {
          ...MOMENT,
          description: `Installs received from then on, Unix ms; at most ${LIMITS.replayPeriodMs / DAY_MS} days before \`until\`.`,
        },
        until: { ...MOMENT, description: 'Exclusive; now if absent.' },
      },
      ['website', 'policy', 'since'],
    ),
  },
  listReplays: {
    method: 'GET',
    path: PATH,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Replays requested within the last seven days, newest first, with their progress.',
    query: {
      website: { type: 'string', description: 'Only those of this website.', maxLength: LIMITS.websiteIdChars },
    },
  },
  showReplay: {
    method: 'GET',
    path: `${PATH}/:replay`,
    needs: 'Viewer',
    rate: 'read',
    summary: `One of them with what each source would lose or gain, and ${LIMITS.logsPerPage} of the installs that would change.`,
    query: {
      from: { ...MOMENT, maximum: 10_000, description: 'How many of the changed installs to skip.' },
    },
  },
  cancelReplay: {
    method: 'POST',
    path: `${PATH}/:replay/cancel`,
    needs: 'Member',
    rate: 'write',
    summary:
      'Cancel a replay that waits or runs: it stops within seconds, has no result, and its state is `cancelled`.',
  },
} as const satisfies Record<string, RouteRow>

export function replayListHandlers(parts: Parameters<typeof listReplays>[0]) {
  return { listReplays: listReplays(parts), showReplay: showReplay(parts) } satisfies Partial<
    HandlersOf<typeof REPLAY_ROUTES>
  >
}

type DecisionReplayParts = Omit<AskParts, 'watch'> &
  Parameters<typeof cancelReplay>[0] &
  Parameters<typeof startReplayWatch>[0]

export function replayHandlers(parts: DecisionReplayParts) {
  return {
    askReplay: askReplay({ ...parts, watch: startReplayWatch(parts).add }),
    cancelReplay: cancelReplay(parts),
  } satisfies Partial<HandlersOf<typeof REPLAY_ROUTES>>
}
