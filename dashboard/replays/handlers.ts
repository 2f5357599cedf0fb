/** Handlers of "what if": what another policy would have decided about installs of a period. */

import type { REPLAY_ROUTES } from '../api/replays.ts'
import type { HandlersOf } from '../http/call.ts'
import { askReplay, type AskParts } from './ask.ts'
import { cancelReplay } from './cancel.ts'
import { listReplays, showReplay } from './show.ts'
import { startReplayWatch } from './watch.ts'

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
