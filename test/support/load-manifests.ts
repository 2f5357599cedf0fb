/** The manifests of loads: an organisation without tight limits, and websites of one origin, each with live destinations. */

import { ga4Destination, installPath, organization, resource, secret, website, type Manifest } from './manifests.ts'

export interface LoadPlan {
  readonly organization: string
  readonly installPath: string
  /** The origin that every website registers. */
  readonly origin: string
  /** Many, so that the limits of each are far away. */
  readonly websites: readonly string[]
  readonly measurementId: string
  /** What the providers are told; each website has a destination for every provider that is named here. */
  readonly secrets: { readonly ga4: string; readonly meta?: string }
}

/** As a text of many documents, which the watched folder takes as a file. */
export function loadManifests(plan: LoadPlan): string {
  const { secrets } = plan
  const first = [
    organization(plan.organization),
    installPath(plan.installPath, { organizationRef: { name: plan.organization } }),
    secret('keys', secrets),
  ]
  return [...first, ...plan.websites.flatMap((name) => websiteOf(name, plan))]
    .map((manifest) => JSON.stringify(manifest))
    .join('\n---\n')
}

function websiteOf(name: string, { organization: owner, origin, measurementId, secrets }: LoadPlan): Manifest[] {
  const websiteRef = { name }
  const ga4 = { measurementId, apiSecretRef: { name: 'keys', key: 'ga4' } }
  const meta = { pixelId: '1234567890', accessTokenRef: { name: 'keys', key: 'meta' } }
  const providers = Object.keys(secrets)
  return [
    website(name, { organizationRef: { name: owner }, primaryOrigin: origin, providers }),
    ga4Destination(`${name}-ga4`, { websiteRef, mode: 'Live', ga4 }),
    ...(secrets.meta === undefined
      ? []
      : [resource('Destination', `${name}-meta`, { websiteRef, provider: 'meta', mode: 'Live', meta })]),
  ]
}
