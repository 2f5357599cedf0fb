/** Where calls outwards go: the address of each provider, its own or the one that the operator sets instead, and the proxy on the way. */

import { setGlobalProxyFromEnv } from 'node:http'

import { settingOf } from '../../domain/providers/addresses.ts'
import type { OutboundProxy } from '../../domain/outbound/proxy.ts'
import type { ProviderAddress } from '../../domain/providers/descriptor.ts'
import { PROVIDER_DESCRIPTORS, type ProviderId, type ProviderUrlSetting } from '../../domain/providers/index.ts'
import type { ProxySettings, SettingsNamed } from '../../runtime/settings/settings-of.ts'

type ProviderUrls = SettingsNamed<ProviderUrlSetting>
/** What sending to a provider depends on. */
export type SendingSettings = ProviderUrls & ProxySettings

/** Origin of the provider's API. */
export function baseUrlOf(provider: ProviderId, settings: ProviderUrls): string {
  return inUse(PROVIDER_DESCRIPTORS[provider].api, settings)
}

/** Origin of the service that gives access tokens; the API's own if the provider wants none. */
export function tokenUrlOf(provider: ProviderId, settings: ProviderUrls): string {
  const { api, tokens } = PROVIDER_DESCRIPTORS[provider]
  return inUse(tokens ?? api, settings)
}

function inUse(address: ProviderAddress, settings: ProviderUrls): string {
  return settings[settingOf(address)] ?? address.url
}

/** Null if calls go out directly. */
export function outboundProxyOf({ httpsProxy: url, noProxy, proxyNames }: ProxySettings): OutboundProxy | null {
  return url === null ? null : { url, direct: noProxy, resolvesNames: proxyNames === 'Trusted' }
}

/**
 * Lets Node's own fetch use it: that is what the client of OpenID Connect calls, and `whencectl check`. Node takes a name for itself alone, so its names
 * stand there twice; it knows no networks, so an address is called directly only if it is listed.
 * @returns what undoes it
 */
export function useProxyForFetch({ httpsProxy, noProxy }: SettingsNamed<'httpsProxy' | 'noProxy'>): () => void {
  if (httpsProxy === null) return () => undefined
  const direct = noProxy.flatMap((entry) => [entry, `.${entry}`])
  return setGlobalProxyFromEnv({
    HTTPS_PROXY: httpsProxy,
    NO_PROXY: ['localhost', '127.0.0.1', '[::1]', ...direct].join(','),
  })
}
