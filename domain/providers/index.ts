/** The providers that an install can be delivered to. After adding a line here, the compiler asks for everything else of a provider. */

import { keysOf } from '../typed-keys.ts'
import type { ProviderAddress, ProviderDescriptor } from './descriptor.ts'
import { ga4 } from './ga4.ts'
import { googleAds } from './google-ads.ts'
import { meta } from './meta.ts'
import { tiktok } from './tiktok.ts'
import { x } from './x.ts'

const PROVIDERS = {
  [ga4.id]: ga4,
  [googleAds.id]: googleAds,
  [meta.id]: meta,
  [tiktok.id]: tiktok,
  [x.id]: x,
} as const satisfies Readonly<Record<string, ProviderDescriptor>>

export type ProviderId = keyof typeof PROVIDERS
export const PROVIDER_IDS = keysOf(PROVIDERS)
export const PROVIDER_DESCRIPTORS: { readonly [P in ProviderId]: ProviderDescriptor } = PROVIDERS

/** Providers that get nothing of a visit under Global Privacy Control. */
export const ADVERTISING_PROVIDERS = PROVIDER_IDS.filter((id) => PROVIDER_DESCRIPTORS[id].isAdvertising)

type Identifiers<D extends ProviderDescriptor> = {
  readonly [F in keyof D['identifiers']]?: D['identifiers'][F] extends 'moment' ? number : string
}
type IdentityOf<D extends ProviderDescriptor> = D extends { readonly accounts: object }
  ? Readonly<Record<string, Identifiers<D>>>
  : Identifiers<D>
/** The identifiers by which the providers recognise a visitor, as they are stored with a visit. */
export type ProviderIdentities = { readonly [P in ProviderId]?: IdentityOf<(typeof PROVIDERS)[P]> }

type Descriptor = (typeof PROVIDERS)[ProviderId]
type AddressOf<D> = D extends { readonly tokens: infer Tokens extends object }
  ? D['api' & keyof D] | Tokens
  : D['api' & keyof D]
/** Names of the settings that replace the address of a provider. */
export type ProviderUrlSetting = Extract<AddressOf<Descriptor>, { readonly setting: string }>['setting']
/** Of all providers: those of their APIs, and of the services that give access tokens. */
export const ADDRESSES: readonly (ProviderAddress & { readonly setting: ProviderUrlSetting })[] = Object.values(
  PROVIDERS,
).flatMap((each): readonly AddressOf<Descriptor>[] => ('tokens' in each ? [each.api, each.tokens] : [each.api]))
