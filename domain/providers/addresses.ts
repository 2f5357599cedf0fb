/** The addresses of the providers, and the names by which an operator replaces one. */

import type { ProviderAddress } from './descriptor.ts'
import { ADDRESSES, type ProviderUrlSetting } from './index.ts'

interface ReplaceableAddress extends ProviderAddress {
  readonly setting: ProviderUrlSetting
  /** In the chart: `google_oauth`. */
  readonly value: string
  /** In the environment: `WHENCE_GOOGLE_OAUTH_URL`. */
  readonly variable: `WHENCE_${string}_URL`
}

/** In the order of the chart's values, which is that of the stand-ins' ports. */
export const PROVIDER_ADDRESSES: readonly ReplaceableAddress[] = ADDRESSES.map(replaceable).toSorted((one, other) =>
  one.value < other.value ? -1 : 1,
)

export const PROVIDER_URL_SETTINGS: readonly ProviderUrlSetting[] = PROVIDER_ADDRESSES.map(({ setting }) => setting)

/** The setting that replaces this address. */
export function settingOf({ setting }: ProviderAddress): ProviderUrlSetting {
  const known = PROVIDER_URL_SETTINGS.find((each) => each === setting)
  if (known === undefined) throw new Error(`no provider has the address ${setting}`)
  return known
}

function replaceable(address: (typeof ADDRESSES)[number]): ReplaceableAddress {
  const value = address.setting.replace(/Url$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return { ...address, value, variable: `WHENCE_${value.toUpperCase()}_URL` }
}
