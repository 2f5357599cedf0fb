/** Handlers of event webhooks beside those of all resources: how they fare, tests, what is sent again, and their secrets. */

import type { WEBHOOK_ROUTES } from '../api/webhooks.ts'
import type { WriteParts } from '../configuration/write.ts'
import type { HandlersOf } from '../http/call.ts'
import { createWebhook, rotateSecret } from './secrets.ts'
import { replayLost, testWebhook, type WebhookSendParts } from './send.ts'
import { listWebhookAttempts, listLost, listWebhooks } from './show.ts'

export function webhookHandlers(parts: WebhookSendParts & WriteParts): HandlersOf<typeof WEBHOOK_ROUTES> {
  return {
    webhooks: listWebhooks(parts),
    createWebhook: createWebhook(parts),
    webhookAttempts: listWebhookAttempts(parts),
    lostEvents: listLost(parts),
    replayLost: replayLost(parts),
    testWebhook: testWebhook(parts),
    rotateWebhookSecret: rotateSecret(parts),
  }
}
