/** The rows of the table of settings that replace the addresses of providers. */

import { PROVIDER_ADDRESSES } from '../../domain/providers/addresses.ts'
import type { ProviderUrlSetting } from '../../domain/providers/index.ts'
import { parseOriginUrl } from './parse.ts'

function providerUrl(env: string, what: string) {
  return {
    option: null,
    env,
    placeholder: 'URL',
    doc: `Base address of ${what}: only the origin; the documented path is added.`,
    parse: parseOriginUrl,
    fallback: null,
    fallbackDoc: "the provider's own",
  } as const
}

// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the addresses are those of all settings
export const PROVIDER_URL_ROWS = Object.fromEntries(
  PROVIDER_ADDRESSES.map(({ setting, variable, what }) => [setting, providerUrl(variable, what)]),
) as { readonly [S in ProviderUrlSetting]: ReturnType<typeof providerUrl> }
