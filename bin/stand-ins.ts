/**
 * Starts stand-ins for the providers, in `make run` and as `whence stand-ins`, so that nothing of a trial reaches a
 * provider.
 */

import { startGa4StandIn } from '../stand-ins/ga4.ts'
import { startGoogleAdsStandIn } from '../stand-ins/google-ads.ts'
import { startGoogleOauthStandIn, type GoogleOauthStandIn } from '../stand-ins/google-oauth.ts'
import { startMetaStandIn } from '../stand-ins/meta.ts'
import type { GuardedOptions } from '../stand-ins/server.ts'
import { startTiktokStandIn } from '../stand-ins/tiktok.ts'
import { startXStandIn } from '../stand-ins/x.ts'
import type { Lifecycle } from '../runtime/lifecycle.ts'
import { createRegistry } from '../runtime/metrics.ts'
import type { RunOutcome, Settings } from '../runtime/settings/settings.ts'
import { runProgram } from './wiring/process.ts'
import { startMetrics } from './wiring/serve-api.ts'
import { version } from './wiring/version.ts'

/** In the order of their ports. */
const PROVIDER_URLS = ['ga4Url', 'googleAdsUrl', 'googleOauthUrl', 'metaUrl', 'tiktokUrl', 'xUrl'] as const

type ProviderUrl = (typeof PROVIDER_URLS)[number]

interface StandIn {
  readonly url: string
  stop(): Promise<void>
}

interface Place {
  readonly host: string
  /** Port of the first; 0 takes free ones for all. */
  readonly port: number
}

const FREE: Place = { host: '127.0.0.1', port: 0 }
/** With these rules, a trial shows how wrong credentials and unknown accounts are refused. */
const RULES = {
  isToken: (token: string) => !token.startsWith('wrong'),
  isOpen: (key: string) => !key.endsWith('404'),
} as const

/** `whence stand-ins`: logs the address of each, as the variable that points a worker to it. */
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
 * One for every provider whose address is not set. All of them, not only those that the catalog needs now: a
 * destination that is added to the watched folder later needs one too. Stopped with the lifecycle.
 */
export async function startStandIns(settings: Settings, lifecycle: Lifecycle, place = FREE): Promise<Settings> {
  let oauth: GoogleOauthStandIn | undefined
  const starts: Readonly<Record<ProviderUrl, (options: GuardedOptions) => Promise<StandIn>>> = {
    ga4Url: startGa4StandIn,
    googleOauthUrl: async (options) =>
      (oauth = await startGoogleOauthStandIn({ ...options, isRefreshToken: RULES.isToken })),
    // If another service issues the tokens, the stand-in cannot check them.
    googleAdsUrl: (options) => startGoogleAdsStandIn(oauth === undefined ? options : { ...options, ...guardOf(oauth) }),
    metaUrl: startMetaStandIn,
    tiktokUrl: startTiktokStandIn,
    xUrl: startXStandIn,
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

function guardOf(oauth: GoogleOauthStandIn): { isToken: (token: string) => boolean } {
  return { isToken: (token) => oauth.isToken(token) }
}
