/**
 * Starts stand-ins for the providers, in `make run` and as `whencectl stand-ins`, so that nothing of a trial reaches a
 * provider.
 */

import { recordOf } from '../domain/typed-keys.ts'
import { PROVIDER_ADDRESSES, PROVIDER_URL_SETTINGS, settingOf } from '../domain/providers/addresses.ts'
import type { ProviderAddress } from '../domain/providers/descriptor.ts'
import { PROVIDER_DESCRIPTORS, type ProviderUrlSetting } from '../domain/providers/index.ts'
import { STAND_INS } from '../stand-ins/index.ts'
import type { ProviderStandIn } from '../stand-ins/server.ts'
import type { PartStarter } from '../runtime/lifecycle.ts'
import type { RunOutcome } from '../runtime/settings/settings.ts'
import type { SettingsNamed } from '../runtime/settings/settings-of.ts'
import { runProgram } from './wiring/process.ts'
import { startMetrics } from './wiring/probes.ts'

interface ListenPlace {
  readonly host: string
  /** Port of the first; 0 takes free ones for all. */
  readonly port: number
}

export type StandInAddresses = Readonly<Partial<Record<ProviderUrlSetting, string>>>

const FREE: ListenPlace = { host: '127.0.0.1', port: 0 }
/** With these rules, a trial shows how wrong credentials and unknown accounts are refused. */
const isToken = (token: string): boolean => !token.startsWith('wrong')
const isAccount = (key: string): boolean => !key.endsWith('404')

/** `whencectl stand-ins`: logs the address of each, as the variable that points a worker to it. */
export function standIns({ settings }: RunOutcome<'stand-ins'>): Promise<number> {
  return runProgram('stand-ins', settings, async (own) => {
    const probes = await startMetrics(own, settings.metricsListen)
    const none = recordOf(PROVIDER_URL_SETTINGS, () => null)
    const placed = await startStandIns(none, own.lifecycle, settings.standInsListen)
    probes.ready()
    own.logger.info({ ...placed, host: settings.standInsListen.host }, 'standing in for the providers')
  })
}

/**
 * One for every provider whose address is not set, and their addresses. All of them, not only those that the catalog needs now: a
 * destination that is added to the watched folder later needs one too. Stopped with the lifecycle.
 */
export async function startStandIns(
  settings: SettingsNamed<ProviderUrlSetting>,
  lifecycle: PartStarter,
  place = FREE,
): Promise<StandInAddresses> {
  const placed: Partial<Record<ProviderUrlSetting, string>> = {}

  /** Null for an address that is set: the server there knows its own tokens. */
  async function start(address: ProviderAddress, isKnown = isToken): Promise<ProviderStandIn | null> {
    const setting = settingOf(address)
    if (settings[setting] !== null) return null
    const number = PROVIDER_ADDRESSES.findIndex((each) => each.setting === setting)
    const port = place.port === 0 ? 0 : place.port + number
    const guard = { isToken: isKnown, isOpen: isAccount }
    const options = { host: place.host, port, guard, isRefreshToken: isToken }
    const name = `stand-in ${setting.replace('Url', '')}`
    const standIn = await lifecycle.start(
      name,
      () => STAND_INS[setting](options),
      (started) => started.close(),
    )
    placed[setting] = standIn.url
    return standIn
  }

  for (const { api, tokens } of Object.values(PROVIDER_DESCRIPTORS)) {
    const giver = tokens === undefined ? null : await start(tokens)
    await start(api, giver?.isToken)
  }
  return placed
}
