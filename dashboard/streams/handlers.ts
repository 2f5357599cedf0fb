/** Handlers of log streams: their progress, the answers of their receivers, and commands to them. */

import type { STREAM_ROUTES } from '../api/streams.ts'
import type { WriteParts } from '../configuration/write.ts'
import type { HandlersOf } from '../http/call.ts'
import { listAttempts, listStreams, type StreamListParts } from './list.ts'
import { orderResend, orderSkip, orderTest, type OrderParts } from './order.ts'
import { setPaused } from './pause.ts'
import { rotateStreamSecret } from './rotate.ts'

export function streamHandlers(parts: StreamListParts & OrderParts & WriteParts): HandlersOf<typeof STREAM_ROUTES> {
  return {
    streams: listStreams(parts),
    streamAttempts: listAttempts(parts),
    testStream: orderTest(parts),
    skipStream: orderSkip(parts),
    resendStream: orderResend(parts),
    pauseStream: setPaused(parts, true),
    resumeStream: setPaused(parts, false),
    rotateStreamSecret: rotateStreamSecret(parts),
  }
}
