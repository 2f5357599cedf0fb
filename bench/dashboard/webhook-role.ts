/** The role `webhooks` in the process of a benchmark, with webhooks on a receiver that speaks TLS in another one. */

import { createServer } from 'node:https'
import type { RequestListener } from 'node:http'
import { connect, type AddressInfo } from 'node:net'

import { webhookKey, type Catalog, type Webhook } from '../../domain/catalog.ts'
import type { WebhookEventType } from '../../domain/model.ts'
import { encodeRecord, recordKey } from '../../domain/records.ts'
import { startWebhooks } from '../../delivery/webhooks/webhooks.ts'
import { installOf, recordOf, visitOf } from '../../fixtures/delivery/builders.ts'
import { FactsDouble } from '../../fixtures/delivery/facts-double.ts'
import { testCertificate } from '../../fixtures/engines/certificate.ts'
import type { Entry } from '../../ports/event-log/event-log.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { createRandomness } from '../../runtime/random.ts'

const HOST = 'hooks.bench.dev'
const PUBLIC = '93.184.215.14'
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

export interface ReceiverPlace {
  readonly port: number
  readonly certPem: string
}

/** Prints its place as a line of JSON, and answers until it is ended. */
export function receiveWith(listener: RequestListener): void {
  const { keyPem, certPem } = testCertificate([HOST])
  const server = createServer({ key: keyPem, cert: certPem }, listener)
  server.listen(0, '127.0.0.1', () => {
    const place: ReceiverPlace = { port: (server.address() as AddressInfo).port, certPem }
    console.log(JSON.stringify(place))
  })
}

/** Organisations with one webhook each, at `/ID` of the receiver; `wanted`: null if they have none. */
export function organizationsWith(ids: readonly string[], wanted: WebhookEventType | null): Catalog['organizations'] {
  const webhookOf = (id: string, events: readonly WebhookEventType[]): Webhook => ({
    id: `default/${id}`,
    namespace: 'default',
    objectName: id,
    displayName: id,
    format: 'Standard',
    url: `https://${HOST}/${id}`,
    events,
    isPaused: false,
    previousSecretUntilMs: null,
  })
  const all = ids.map((id) => {
    const webhooks = wanted === null ? [] : [webhookOf(id, [wanted])]
    return [id, { id, plan: 'Enterprise', logRetentionDays: 90, webhooks }] as const
  })
  return new Map(all) as unknown as Catalog['organizations']
}

export function startWebhookRole(
  eventLog: Parameters<typeof startWebhooks>[0]['eventLog'],
  organizations: Catalog['organizations'],
  { port, certPem }: ReceiverPlace,
): ReturnType<typeof startWebhooks> {
  const webhooks = [...organizations.values()].flatMap((organization) => organization.webhooks)
  const credentials = new Map(webhooks.map((each) => [webhookKey(each), { secret: SECRET }]))
  const facts = new FactsDouble()
  facts.anyVisit = visitOf({})
  return startWebhooks(
    {
      eventLog,
      telemetry: { logger: SILENT_LOGGER },
      nowMs: Date.now,
      randomness: createRandomness(),
      facts,
      hotState: { claimJob: async () => false, releaseJob: async () => undefined },
      catalog: { current: () => ({ organizations, number: 1 }), credentials: () => credentials },
    },
    {
      trustedPem: certPem,
      resolve: async () => [PUBLIC],
      dial: () => Object.defineProperty(connect(port, '127.0.0.1'), 'remoteAddress', { value: PUBLIC }),
    },
  )
}

/** A matched install that arrives now. */
export function matchedInstall(organization: string, eventId: string): Entry {
  const receivedAtMs = Date.now()
  const install = { ...installOf({}), organization, eventId, receivedAtMs, resolution: 'matched' as const }
  const record = recordOf({ ...install, visitId: 'ab'.repeat(16), visitIssuedAtMs: receivedAtMs - 60_000 })
  return { key: recordKey(install, eventId), value: encodeRecord(record) }
}
