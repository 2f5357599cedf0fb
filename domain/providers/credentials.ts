/** Whether a destination has all the credentials that its provider's block needs. */

import { PROVIDER_DESCRIPTORS, type ProviderId } from './index.ts'

/** `secrets`: values by credential name. Nothing is sent unless one of the provider's sets of credentials is complete. */
export function hasCredentials(provider: ProviderId, secrets: Readonly<Record<string, string>>): boolean {
  const { secret } = PROVIDER_DESCRIPTORS[provider].block
  const sets = 'credential' in secret ? [[secret.credential]] : secret.sets.map((set) => Object.values(set))
  return sets.some((names) => names.every((name) => (secrets[name] ?? '') !== ''))
}
