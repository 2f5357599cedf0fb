/** Trials of destinations for the dashboard: one test event, to where deliveries would go. */

import type { TryDestination } from '../../dashboard/set-up/destination-trial.ts'
import { PROVIDERS } from '../../delivery/providers/index.ts'
import { sendTest } from '../../delivery/tools/send-test.ts'
import { baseUrlOf, outboundProxyOf, tokenUrlOf, type SendingSettings } from './outbound.ts'

/** What no trial depends on. */
const PLAIN = {
  id: 'trial',
  namespace: '',
  displayName: 'Trial',
  mode: 'Validate',
  eventTypes: [],
  reconstructionWindowHours: 72,
  ci: 'Exclude',
  repeats: 'Exclude',
} as const

export function createTrials(settings: SendingSettings, nowMs: () => number): TryDestination {
  return ({ owner, origin, provider: id, settings: own, secrets }) => {
    const access = {
      provider: PROVIDERS[id],
      baseUrl: baseUrlOf(id, settings),
      tokenUrl: tokenUrlOf(id, settings),
      proxy: outboundProxyOf(settings),
    }
    const destination = { ...PLAIN, ...owner, provider: id, settings: own }
    return sendTest(access, { destination, secrets, isLive: false, origin }, nowMs)
  }
}
