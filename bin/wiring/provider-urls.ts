/** The address of each provider: its own, or the one that the operator sets instead. */

import type { ProviderAddress } from '../../domain/providers/descriptor.ts'
import { PROVIDER_DESCRIPTORS, type ProviderId, type ProviderUrlSetting } from '../../domain/providers/index.ts'
import type { Settings } from '../../runtime/settings/settings.ts'

type ProviderUrls = Pick<Settings, ProviderUrlSetting>

/** Origin of the provider's API. */
export function baseUrlOf(provider: ProviderId, settings: ProviderUrls): string {
  return inUse(PROVIDER_DESCRIPTORS[provider].api, settings)
}

/** Origin of the service that gives access tokens; the API's own if the provider wants none. */
export function tokenUrlOf(provider: ProviderId, settings: ProviderUrls): string {
  const { api, tokens } = PROVIDER_DESCRIPTORS[provider]
  return inUse(tokens ?? api, settings)
}

function inUse({ setting, url }: ProviderAddress, settings: ProviderUrls): string {
  return settings[setting as ProviderUrlSetting] ?? url
}
