/** Reads the identifiers of Google Ads. */

import type { IdentityReader } from '../core/types.ts'

export const googleAds: IdentityReader = ({ cookieOf, clickOf, firstGroup }) => {
  const idOf = (parameter: string, value: string | undefined) => {
    // GCL.<seconds>.<ID>, or in the newer layout the fields between `.k`, `$i` and `$`.
    const own = firstGroup(/^(?:GCL\.\d+\.|.*\.k)([^$]+)/, value)
    return clickOf(parameter, own, firstGroup(/(?:^GCL\.|\$i)(\d+)/, value)) ?? own
  }
  const gcl_aw = cookieOf('_gcl_aw')
  return {
    gclid: idOf('gclid', gcl_aw ?? cookieOf('FPGCLAW')),
    wbraid: idOf('wbraid', cookieOf('_gcl_gb') ?? cookieOf('FPGCLGB')),
    gbraid: idOf('gbraid', cookieOf('_gcl_ag') ?? cookieOf('FPGCLAG')),
    gcl_aw,
    gad_source: clickOf('gad_source'),
    gad_campaignid: clickOf('gad_campaignid'),
  }
}
