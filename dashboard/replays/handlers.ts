/** Handlers of "what if": what another policy would have decided about installs of a period. */

import type { REPLAY_ROUTES } from '../api/replays.ts'
import type { HandlersOf } from '../http/call.ts'
import { askReplay, type AskParts } from './ask.ts'
import { cancelReplay } from './cancel.ts'
import { listReplays, showReplay } from './show.ts'

export function replayListHandlers(parts: Parameters<typeof listReplays>[0]) {
  return { listReplays: listReplays(parts), showReplay: showReplay(parts) } satisfies Partial<
    HandlersOf<typeof REPLAY_ROUTES>
  >
}

export function replayHandlers(ask: AskParts, cancel: Parameters<typeof cancelReplay>[0]) {
  return {
    askReplay: askReplay(ask),
    cancelReplay: cancelReplay(cancel),
  } satisfies Partial<HandlersOf<typeof REPLAY_ROUTES>>
}
