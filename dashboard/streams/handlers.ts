/** Handlers of log streams: their progress, the answers of their receivers, and commands to them. */

import type { STREAM_ROUTES } from '../api/streams.ts'
import type { WriteParts } from '../configuration/write.ts'
import type { HandlersOf } from '../http/call.ts'
import { listAttempts, listStreams, type StreamListParts } from './list.ts'
import { orderResend, orderSkip, orderTest, type OrderParts } from './order.ts'
import { setPaused } from './pause.ts'
import { rotateStreamSecret } from './rotate.ts'

export function streamHandlers(
  reading: StreamListParts,
  ordering: OrderParts,
  writing: WriteParts,
): HandlersOf<typeof STREAM_ROUTES> {
  return {
    streams: listStreams(reading),
    streamAttempts: listAttempts(reading),
    testStream: orderTest(ordering),
    skipStream: orderSkip(ordering),
    resendStream: orderResend(ordering),
    pauseStream: setPaused(writing, true),
    resumeStream: setPaused(writing, false),
    rotateStreamSecret: rotateStreamSecret(writing),
  }
}
