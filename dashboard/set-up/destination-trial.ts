/** Tries the credentials and settings of a destination before there is one: a marked test event goes to the provider's test facility, and nothing is stored. */

import { refuse, refuseField, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { OwnedWebsite } from '../../domain/model.ts'
import { refuseByPlan, refuseUse } from '../../domain/plan.ts'
import type { ProviderBlock } from '../../domain/providers/descriptor.ts'
import { PROVIDER_DESCRIPTORS, type ProviderId } from '../../domain/providers/index.ts'
import { firstFinding } from '../../domain/schema/check-schema.ts'
import { withDefaults } from '../../domain/schema/schema-values.ts'
import { objectOf } from '../../domain/strict-json.ts'
import type { HitCounter } from '../../ports/hot-state/hot-state.ts'
import { answer, type CallTo } from '../http/call.ts'
import { destinationTrialHit } from '../http/limits.ts'
import type { Directory } from '../resources/directory.ts'
import { oneCallEach } from './one-call-each.ts'

/** What is to be tried, as it was checked. */
export interface DestinationTrial {
  readonly owner: OwnedWebsite
  /** Origin of the website: the page that the made-up visitor was on. */
  readonly origin: string
  readonly provider: ProviderId
  /** Of the provider's block, without its reference to a Secret. */
  readonly settings: Readonly<Record<string, unknown>>
  /** By credential name. */
  readonly secrets: Readonly<Record<string, string>>
}

/** What the provider said, without secrets. */
interface TrialReport {
  readonly verdict: 'passed' | 'refused' | 'unclear'
  readonly code: string
  /** How it was tested, in words. */
  readonly facility: string
  /** 0 if no answer came. */
  readonly responseStatus: number
  readonly responseBody: string
}

/** Never rejects. */
export type TryDestination = (trial: DestinationTrial) => Promise<TrialReport>

export interface TrialParts {
  readonly directory: { readonly websites: Directory['websites'] }
  readonly hotState: HitCounter
  readonly tryDestination: TryDestination
}

export function tryDestinationOf({ directory, hotState, tryDestination }: TrialParts) {
  const bounded = oneCallEach({
    hotState,
    mostAtOnce: LIMITS.destinationTrialsAtOnce,
    hitOf: destinationTrialHit,
  })
  return async ({ scope: { organization }, params, body }: CallTo<'tryDestination'>) => {
    const website = directory.websites(organization.id).find(({ id }) => id === params.website)
    if (website === undefined) return refuse('not_found')
    const beyond = refuseByPlan(organization.plan, 'destinationsPerWebsite', 1)
    if (beyond !== null) return refuseUse(beyond.use)
    const { block } = PROVIDER_DESCRIPTORS[body.provider]
    const secrets = credentialsIn(block, body.values)
    const settings = settingsIn(block, body.settings)
    if ('code' in settings) return settings
    return bounded(organization.id, async () => {
      const owner = { organization: organization.id, website: website.id }
      const trial = { owner, origin: website.primaryOrigin, provider: body.provider, settings: settings.value, secrets }
      const { verdict, code, facility, responseStatus, responseBody } = await tryDestination(trial)
      const text = responseBody.slice(0, LIMITS.destinationTrialAnswerChars)
      return answer({ verdict, code, facility, status: responseStatus === 0 ? null : responseStatus, answer: text })
    })
  }
}

type CheckedSettings = { readonly value: Readonly<Record<string, unknown>> }

/** Checked by the schema of the block, to which a reference belongs that is not there yet. */
function settingsIn(
  { schema, secret }: ProviderBlock,
  given: Readonly<Record<string, unknown>>,
): CheckedSettings | Refusal {
  const ref = 'credential' in secret ? { name: 'trial', key: 'trial' } : { name: 'trial' }
  const finding = firstFinding(schema, { ...given, [secret.refField]: ref })
  if (finding !== null) return refuseField(`/settings${finding.field}`, finding.message)
  return { value: objectOf(withDefaults(schema, given)) }
}

/** By credential name: a block with one credential takes the only value, the others go by the keys of a Secret. */
function credentialsIn(
  { secret }: ProviderBlock,
  values: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if ('credential' in secret) return { [secret.credential]: Object.values(values)[0] ?? '' }
  const complete = secret.sets.find((set) => Object.keys(set).every((key) => Object.hasOwn(values, key)))
  return Object.fromEntries(Object.entries(complete ?? {}).map(([key, credential]) => [credential, values[key] ?? '']))
}
