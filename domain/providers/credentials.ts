/** Whether the credentials of a destination can be used, as the provider's block says which it needs. */

import { PROVIDER_DESCRIPTORS, type ProviderId } from './index.ts'

/** `secrets`: values by the names of the credentials; without one of the provider's whole sets nothing is tried. */
export function hasCredentials(provider: ProviderId, secrets: Readonly<Record<string, string>>): boolean {
  const { secret } = PROVIDER_DESCRIPTORS[provider].block
  const sets = 'credential' in secret ? [[secret.credential]] : secret.sets.map((set) => Object.values(set))
  return sets.some((names) => names.every((name) => (secrets[name] ?? '') !== ''))
}
