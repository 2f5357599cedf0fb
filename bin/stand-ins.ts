/** Starts stand-ins for the providers, in `make run` and as `whence stand-ins`: nothing of a trial then reaches a provider. */

import { startGa4Simulator } from '../delivery/simulator/ga4.ts'
import { startGoogleAdsSimulator } from '../delivery/simulator/google-ads.ts'
import { startGoogleOauthSimulator, type GoogleOauthSimulator } from '../delivery/simulator/google-oauth.ts'
import { startMetaSimulator } from '../delivery/simulator/meta.ts'
import type { GuardedOptions } from '../delivery/simulator/server.ts'
import { startTiktokSimulator } from '../delivery/simulator/tiktok.ts'
import { startXSimulator } from '../delivery/simulator/x.ts'
import type { Lifecycle } from '../runtime/lifecycle.ts'
import { createRegistry } from '../runtime/metrics.ts'
import type { RunOutcome, Settings } from '../runtime/settings.ts'
import { runProgram } from './process.ts'
import { startMetrics } from './serve-api.ts'
import { version } from './version.ts'

/** In the order of their ports. */
const PROVIDER_URLS = ['ga4Url', 'googleAdsUrl', 'googleOauthUrl', 'metaUrl', 'tiktokUrl', 'xUrl'] as const

type ProviderUrl = (typeof PROVIDER_URLS)[number]

interface StandIn {
  readonly url: string
  stop(): Promise<void>
}

interface Place {
  readonly host: string
  /** Of the first; 0 takes free ones for all. */
  readonly port: number
}

const FREE: Place = { host: '127.0.0.1', port: 0 }
/** With these somebody who tries the service sees what wrong credentials and foreign accounts look like. */
const RULES = {
  isToken: (token: string) => !token.startsWith('wrong'),
  isOpen: (key: string) => !key.endsWith('404'),
} as const

/** `whence stand-ins`: says where each listens, as the variable that points a worker at it. */
export function standIns({ settings }: RunOutcome): Promise<number> {
  return runProgram('stand-ins', settings, async ({ logger, lifecycle }) => {
    const registry = createRegistry('stand-ins', version())
    const probes = await startMetrics({ settings, logger, lifecycle, nowMs: Date.now }, registry)
    const none = Object.fromEntries(PROVIDER_URLS.map((name) => [name, null]))
    const placed = await startStandIns({ ...settings, ...none }, lifecycle, settings.standInsListen)
    probes.ready()
    const urls = Object.fromEntries(PROVIDER_URLS.map((name) => [name, placed[name]]))
    logger.info({ ...urls, host: settings.standInsListen.host }, 'standing in for the providers')
  })
}

/**
 * One for every provider whose address is not set. All of them, and not only those that the catalog needs now: a
 * destination added to the watched folder later must find one too. Stopped with the lifecycle.
 */
export async function startStandIns(settings: Settings, lifecycle: Lifecycle, place = FREE): Promise<Settings> {
  let oauth: GoogleOauthSimulator | undefined
  const starts: Readonly<Record<ProviderUrl, (options: GuardedOptions) => Promise<StandIn>>> = {
    ga4Url: startGa4Simulator,
    googleOauthUrl: async (options) =>
      (oauth = await startGoogleOauthSimulator({ ...options, isRefreshToken: RULES.isToken })),
    // Where the tokens are somebody else's, the stand-in cannot know them.
    googleAdsUrl: (options) =>
      startGoogleAdsSimulator(oauth === undefined ? options : { ...options, ...guardOf(oauth) }),
    metaUrl: startMetaSimulator,
    tiktokUrl: startTiktokSimulator,
    xUrl: startXSimulator,
  }
  const placed: Partial<Record<ProviderUrl, string>> = {}
  for (const name of Object.keys(starts) as ProviderUrl[]) {
    if (settings[name] !== null) continue
    const port = place.port === 0 ? 0 : place.port + PROVIDER_URLS.indexOf(name)
    const start = (): Promise<StandIn> => starts[name]({ ...RULES, host: place.host, port })
    const standIn = await lifecycle.start(`stand-in ${name.replace('Url', '')}`, start, (started) => started.stop())
    placed[name] = standIn.url
  }
  return { ...settings, ...placed }
}

function guardOf(oauth: GoogleOauthSimulator): { isToken: (token: string) => boolean } {
  return { isToken: (token) => oauth.isToken(token) }
}
