/** Starts a stand-in for every provider whose address is not set, so that nothing of a trial leaves the machine. */

import { startGa4Simulator } from '../delivery/simulator/ga4.ts'
import { startGoogleAdsSimulator } from '../delivery/simulator/google-ads.ts'
import { startGoogleOauthSimulator, type GoogleOauthSimulator } from '../delivery/simulator/google-oauth.ts'
import { startMetaSimulator } from '../delivery/simulator/meta.ts'
import { startTiktokSimulator } from '../delivery/simulator/tiktok.ts'
import { startXSimulator } from '../delivery/simulator/x.ts'
import type { Lifecycle } from '../runtime/lifecycle.ts'
import type { Settings } from '../runtime/settings.ts'

type ProviderUrl = 'ga4Url' | 'googleAdsUrl' | 'googleOauthUrl' | 'metaUrl' | 'tiktokUrl' | 'xUrl'

interface StandIn {
  readonly url: string
  stop(): Promise<void>
}

const FREE = { port: 0 } as const

/**
 * All of them, and not only those that the catalog needs now: a destination added to the watched folder later must find
 * one too. Stopped with the lifecycle.
 */
export async function startStandIns(settings: Settings, lifecycle: Lifecycle): Promise<Settings> {
  async function place(setting: ProviderUrl, start: () => Promise<StandIn>): Promise<Partial<Settings>> {
    if (settings[setting] !== null) return {}
    const name = `stand-in ${setting.replace('Url', '')}`
    const standIn = await lifecycle.start(name, start, (started) => started.stop())
    return { [setting]: standIn.url }
  }

  let oauth: GoogleOauthSimulator | undefined
  const placed = [
    await place('ga4Url', () => startGa4Simulator(FREE)),
    await place('googleOauthUrl', async () => (oauth = await startGoogleOauthSimulator(FREE))),
    // Where the tokens are somebody else's, the stand-in cannot know them.
    await place('googleAdsUrl', () =>
      startGoogleAdsSimulator(oauth === undefined ? FREE : { ...FREE, ...guardOf(oauth) }),
    ),
    await place('metaUrl', () => startMetaSimulator(FREE)),
    await place('tiktokUrl', () => startTiktokSimulator(FREE)),
    await place('xUrl', () => startXSimulator(FREE)),
  ]
  return Object.assign({}, settings, ...placed) as Settings
}

function guardOf(oauth: GoogleOauthSimulator): { isToken: (token: string) => boolean } {
  return { isToken: (token) => oauth.isToken(token) }
}
