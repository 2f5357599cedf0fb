/** Runs dispatch and the workers of all five providers on one log, as the embedded service does, for one install after the other. */

import { destinationKey, type Destination } from '../../../domain/catalog.ts'
import type { ProviderId } from '../../../domain/providers/index.ts'
import { encodeRecord, recordKey, type DeliveryRecord } from '../../../domain/records.ts'
import { startDispatch } from '../../../delivery/dispatch/dispatch.ts'
import { PROVIDERS } from '../../../delivery/providers/index.ts'
import { startWorker, type Worker } from '../../../delivery/worker/worker.ts'
import type { Entry } from '../../../ports/event-log/event-log.ts'
import { SILENT_LOGGER } from '../../../runtime/logger.ts'
import { AD_DESTINATIONS, IDENTITIES } from './ad-install.ts'
import { API_SECRET, catalogOf, destinationOf, HOUR_MS, installOf, recordOf, visitOf, WEBSITE } from './builders.ts'
import { FactsDouble } from './facts-double.ts'
import type { Store } from './harness.ts'

/** The providers of the contract, whatever others a version may know. */
const CONTRACT_PROVIDERS = ['ga4', 'google_ads', 'meta', 'tiktok', 'x'] as const satisfies readonly ProviderId[]
export type ContractProvider = (typeof CONTRACT_PROVIDERS)[number]

export interface FiveOptions {
  readonly store: Pick<Store, 'log' | 'hotState'>
  readonly nowMs: () => number
  /** The stand-ins' origins; that of Google's token service beside them. */
  readonly urls: Readonly<Record<ContractProvider | 'google_oauth', string>>
  /** Time limit of one exchange with a provider, in ms, if 10 s is too long for a test. */
  readonly exchangeMs?: Readonly<Partial<Record<ContractProvider, number>>>
}

export interface Five {
  readonly workers: ReadonlyMap<ProviderId, Worker>
  /** Receives `count` installs, each delivered to every provider. */
  report(count: number): Promise<void>
  stop(): Promise<void>
}

const DESTINATIONS: readonly Destination[] = [destinationOf(), ...Object.values(AD_DESTINATIONS)]
const SECRETS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ga4: { apiSecret: API_SECRET },
  google_ads: { clientId: 'client', clientSecret: 'secret', refreshToken: 'refresh' },
  meta: { accessToken: 'token' },
  tiktok: { accessToken: 'token' },
  x: { pixelToken: 'token' },
}
/** Google waits until a click is six hours old; this one is. */
const VISITED_AGO_MS = 10 * HOUR_MS

export async function startFive({ store, nowMs, urls, exchangeMs = {} }: FiveOptions): Promise<Five> {
  const { gclid } = IDENTITIES.google_ads
  const visit = visitOf({ issuedAtMs: nowMs() - VISITED_AGO_MS, identities: { ...IDENTITIES, google_ads: { gclid } } })
  const facts = new FactsDouble()
  facts.show(visit)
  const catalog = catalogOf(DESTINATIONS)
  const credentials = new Map(
    DESTINATIONS.map((each) => [destinationKey(WEBSITE, each.id), SECRETS[each.provider] ?? {}]),
  )
  const common = { eventLog: store.log, catalog: () => catalog, nowMs, random: () => 0, logger: SILENT_LOGGER }
  const dispatch = await startDispatch({ ...common, facts })
  const workers = new Map<ProviderId, Worker>()
  for (const id of CONTRACT_PROVIDERS) {
    const provider = PROVIDERS[id]
    const ownMs = exchangeMs[id]
    const more = ownMs === undefined ? {} : { exchangeMs: ownMs }
    const where = { baseUrl: urls[id], tokenUrl: urls.google_oauth, hotState: store.hotState }
    workers.set(id, await startWorker({ ...common, ...where, ...more, provider, credentials: () => credentials }))
  }
  let reported = 0

  async function report(count: number): Promise<void> {
    const entries = Array.from({ length: count }, (): Entry => {
      reported += 1
      const overrides = { eventId: `event-${String(reported).padStart(6, '0')}`, receivedAtMs: nowMs() }
      const install = installOf({ visit, destinations: DESTINATIONS, overrides })
      return { key: recordKey(WEBSITE, install.eventId), value: encodeRecord(recordOf(install)) }
    })
    await store.log.append('installs', entries, { deadlineMs: 30_000 })
  }

  return {
    workers,
    report,
    async stop() {
      await dispatch.stop()
      await Promise.all([...workers.values()].map((worker) => worker.stop()))
    },
  }
}

/** Whether the provider has it with this record: delivered, or taken for a verdict that comes later. */
export function isAtProvider({ status, attempt }: DeliveryRecord): boolean {
  return status === 'delivered' || attempt?.outcome === 'accepted'
}
