/** Reads the master secrets, from which the keys of receipts, tokens and hashes follow. */

import { loadSecretFile, parseSecrets } from '../../runtime/keyring.ts'
import type { MasterSecretSettings } from '../../runtime/settings/settings-of.ts'

/**
 * The one that signs first. On one machine the secret file is made at the first start; elsewhere all processes must share one. Throws like
 * `loadSecretFile`.
 */
export function masterSecrets(
  settings: MasterSecretSettings,
  options: { readonly mayCreate: boolean },
): readonly string[] {
  return settings.secret === null ? loadSecretFile(settings.secretFile, options) : parseSecrets(settings.secret)
}
