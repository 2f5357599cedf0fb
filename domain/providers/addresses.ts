/** The addresses of the providers, and the names by which an operator replaces one. */

import type { ProviderAddress } from './descriptor.ts'
import { PROVIDER_DESCRIPTORS, type ProviderUrlSetting } from './index.ts'

interface ReplaceableAddress extends ProviderAddress {
  readonly setting: ProviderUrlSetting
  /** In the chart: `google_oauth`. */
  readonly value: string
  /** In the environment: `WHENCE_GOOGLE_OAUTH_URL`. */
  readonly variable: `WHENCE_${string}_URL`
}

/** In the order of the chart's values, which is that of the stand-ins' ports. */
export const PROVIDER_ADDRESSES: readonly ReplaceableAddress[] = Object.values(PROVIDER_DESCRIPTORS)
  .flatMap(({ api, tokens }) => (tokens === undefined ? [api] : [api, tokens]))
  .map(replaceable)
  .toSorted((one, other) => (one.value < other.value ? -1 : 1))

export const PROVIDER_URL_SETTINGS: readonly ProviderUrlSetting[] = PROVIDER_ADDRESSES.map(({ setting }) => setting)

function replaceable(address: ProviderAddress): ReplaceableAddress {
  const value = address.setting.replace(/Url$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const setting = address.setting as ProviderUrlSetting
  return { ...address, setting, value, variable: `WHENCE_${value.toUpperCase()}_URL` }
}
