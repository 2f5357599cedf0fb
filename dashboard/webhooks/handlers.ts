/** Handlers of event webhooks beside those of all resources: how they fare, tests, what is sent again, and their secrets. */

import type { WEBHOOK_ROUTES } from '../api/webhooks.ts'
import type { WriteParts } from '../configuration/write.ts'
import type { HandlersOf } from '../http/call.ts'
import { createWebhook, rotateSecret } from './secrets.ts'
import { replayLost, testWebhook, type WebhookSendParts } from './send.ts'
import { listWebhookAttempts, listLost, listWebhooks, type WebhookReadParts } from './show.ts'

export function webhookHandlers(
  reading: WebhookReadParts,
  sending: WebhookSendParts,
  writing: WriteParts,
): HandlersOf<typeof WEBHOOK_ROUTES> {
  return {
    webhooks: listWebhooks(reading),
    createWebhook: createWebhook(writing),
    webhookAttempts: listWebhookAttempts(reading),
    lostEvents: listLost(reading),
    replayLost: replayLost(sending),
    testWebhook: testWebhook(sending),
    rotateWebhookSecret: rotateSecret(writing),
  }
}
