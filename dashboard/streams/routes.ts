/** Routes of log streams: their progress, the answers of their receivers, and commands to them. */

import { LIMITS, RATE_RULES } from '../../domain/limits.ts'
import { objectSchema } from '../../domain/schema/json-schema.ts'
import type { WriteParts } from '../configuration/write.ts'
import type { HandlersOf } from '../http/call.ts'
import type { RouteRow } from '../http/route.ts'
import { listAttempts, listStreams, type StreamListParts } from './list.ts'
import { orderResend, orderSkip, orderTest, type OrderParts } from './order.ts'
import { setPaused } from './pause.ts'
import { rotateStreamSecret } from './rotate.ts'

const PATH = '/api/organizations/:organization/streams'
const STREAM = `${PATH}/:stream` as const
const ORDER = { method: 'POST', needs: 'Admin', rate: 'write' } as const

export const STREAM_ROUTES = {
  streams: {
    method: 'GET',
    path: PATH,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Log streams: state, backlog, the last error, and which records were dropped and why.',
  },
  streamAttempts: {
    method: 'GET',
    path: `${STREAM}/attempts`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'The last 20 attempts of a log stream, newest first, each with the first kilobyte of its answer.',
  },
  testStream: {
    ...ORDER,
    path: `${STREAM}/test`,
    refuses: ['plan_limit', 'plan_required'],
    summary: `Have a log stream send a test; the answer names the attempt to look for. ${RATE_RULES.log_stream_tests.limit} an hour.`,
  },
  skipStream: {
    ...ORDER,
    path: `${STREAM}/skip`,
    refuses: ['plan_limit', 'plan_required'],
    summary: 'Skip what a log stream has not sent yet. It counts as dropped, and the stream reports the gap.',
  },
  resendStream: {
    ...ORDER,
    path: `${STREAM}/resend`,
    refuses: ['plan_limit', 'plan_required'],
    summary: `Send records again, in new batches, as far as they are kept: ${LIMITS.logStreamBacklogDays} days.`,
    body: objectSchema({ since: { type: 'integer', minimum: 0, description: 'Unix ms: records from this time on.' } }, [
      'since',
    ]),
  },
  pauseStream: {
    ...ORDER,
    path: `${STREAM}/pause`,
    refuses: ['conflict', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    summary: 'Pause a log stream: `spec.paused` of its object. New records are kept, as for a stream that fails.',
  },
  resumeStream: {
    ...ORDER,
    path: `${STREAM}/resume`,
    refuses: ['conflict', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    summary: 'Resume a paused log stream at the point where it stopped.',
  },
  rotateStreamSecret: {
    ...ORDER,
    path: `${STREAM}/secret`,
    refuses: ['conflict', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    summary:
      'Make another secret for a log stream to a webhook, which is in the answer and never shown again. The one before signs too for 24 hours.',
    body: objectSchema({}, []),
  },
} as const satisfies Record<string, RouteRow>

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
