/** The values that connect a destination, what the provider said to them, and the destination that is made of them. */

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { readPasted } from '../../domain/onboarding/pasted-value.ts'
import type { GuideField, GuideWay, ProviderGuide } from '../../domain/providers/guide.ts'
import { PROVIDER_DESCRIPTORS, type ProviderId } from '../../domain/providers/index.ts'
import { ask, path } from '../data/ask.ts'
import {
  idOfWebsite,
  keepSecret,
  save,
  type ResourceRow,
  type ResourceSpec,
  type StoredResource,
} from '../data/resources.ts'

/** As they were typed, by name of the field. */
export type Typed = Readonly<Record<string, string>>

export interface ReadValues {
  readonly settings: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, string>>
  /** What is wrong, by name of the field. */
  readonly faults: Readonly<Record<string, string>>
}

/** A provider, and the way to connect it. */
export interface Guided {
  readonly provider: ProviderId
  readonly guide: ProviderGuide
}

/** Undefined: there is the plain form alone. */
export function guideTo(provider: ProviderId): ProviderGuide | undefined {
  return PROVIDER_DESCRIPTORS[provider].guide
}

export function readValues({ provider, guide: { settings } }: Guided, way: GuideWay, typed: Typed): ReadValues {
  const faults: Record<string, string> = {}
  const valuesOf = (fields: readonly GuideField[]): Record<string, string> => {
    const values: Record<string, string> = {}
    for (const field of fields) {
      const read = readPasted(provider, field, typed[field.name] ?? '')
      if (!read.ok) faults[field.name] = read.why
      else if (read.value !== '') values[field.name] = read.value
    }
    return values
  }
  return { settings: valuesOf(settings), secrets: valuesOf(way.fields), faults }
}

export interface ConnectPlace extends Guided {
  readonly organization: string
  readonly website: ResourceRow
}

export type Trial = JsonFrom<'tryDestination'>

/** Sends a marked test event, which counts nowhere. */
export function tryValues(
  { organization, website, provider }: ConnectPlace,
  { settings, secrets }: ReadValues,
): Promise<Trial> {
  const address = '/api/organizations/:organization/websites/:website/destination-trials'
  return ask(path(address, { organization, website: idOfWebsite(website) }), {
    method: 'POST',
    body: { provider, settings, values: secrets },
  })
}

/** Credentials first, then the destination, whose deliveries are only validated. */
export async function connect(
  { organization, website, provider }: ConnectPlace,
  { settings, secrets }: ReadValues,
): Promise<StoredResource> {
  const wanted = { organization, kind: 'Destination', stored: null, name: '' } as const
  const secret = await keepSecret({ ...wanted, spec: {} }, secrets)
  return save({ ...wanted, spec: connectedSpec({ provider, website, settings, secret, secrets }) })
}

interface Connected {
  readonly provider: ProviderId
  readonly website: { readonly name: string }
  readonly settings: Readonly<Record<string, string>>
  /** Name of the Secret. */
  readonly secret: string
  readonly secrets: Readonly<Record<string, string>>
}

export function connectedSpec({ provider, website, settings, secret, secrets }: Connected): ResourceSpec {
  const { name: displayName, block } = PROVIDER_DESCRIPTORS[provider]
  const [key] = Object.keys(secrets)
  const ref = 'credential' in block.secret ? { name: secret, key } : { name: secret }
  return {
    websiteRef: { name: website.name },
    displayName,
    provider,
    mode: 'Validate',
    [block.field]: { ...settings, [block.secret.refField]: ref },
  }
}

/** From now on deliveries count. */
export function goLive(
  organization: string,
  { namespace, name, version, spec }: StoredResource,
): Promise<StoredResource> {
  const stored = { namespace, name, version }
  return save({ organization, kind: 'Destination', name: '', stored, spec: { ...spec, mode: 'Live' } })
}
