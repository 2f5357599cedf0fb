/** The rules of an organisation: what is judged, from which threshold on. What it does not say has a default. */

import { LIMITS } from '../limits.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { ALERT_KINDS, type AlertKind } from './alert.ts'

/** One of `Organization.spec.alerts.rules`. */
export interface AlertRule {
  readonly kind: AlertKind
  /** ID of the website; absent: of all that have no rule of their own. */
  readonly website?: string
  /** In the unit of its kind; absent: the default. */
  readonly threshold?: number
  readonly off?: boolean
}

interface AlertThreshold {
  readonly fallback: number
  readonly min: number
  readonly max: number
  /** Completes "below …" and the like. */
  readonly unit: string
}

/** Null: there is nothing to choose. */
export const ALERT_THRESHOLDS: { readonly [K in AlertKind]: AlertThreshold | null } = {
  InstallsDown: { fallback: 50, min: 1, max: 99, unit: '% of the usual installs' },
  InstallsUp: { fallback: 300, min: 101, max: 10_000, unit: '% of the usual installs' },
  MatchRateDown: { fallback: 20, min: 1, max: 99, unit: 'points below the usual match rate' },
  NothingArrives: null,
  DeliveriesFailing: { fallback: 20, min: 1, max: 100, unit: '% of the deliveries of a day' },
  QuotaNear: { fallback: 80, min: 1, max: 100, unit: '% of the monthly quota' },
}

export const ALERTS_SCHEMA: JsonSchema = {
  type: 'object',
  description: 'When the dashboard, mails and webhooks raise an alert (docs/alerts.md).',
  required: ['rules'],
  properties: {
    rules: {
      type: 'array',
      description:
        'What differs from the defaults. A rule for a website goes before one for all; of two for the same the first counts.',
      maxItems: LIMITS.alertRules,
      items: {
        type: 'object',
        description: 'One rule.',
        required: ['kind'],
        properties: {
          kind: { type: 'string', description: 'What is judged.', enum: ALERT_KINDS },
          website: {
            type: 'string',
            description: 'ID of the website; all if absent. `QuotaNear` is about the organisation.',
            minLength: 1,
            maxLength: LIMITS.websiteIdChars,
          },
          threshold: {
            type: 'integer',
            description: allThresholds(),
            minimum: 1,
            maximum: 10_000,
          },
          off: { type: 'boolean', description: 'There is no such alert.' },
        },
      },
    },
  },
}

function allThresholds(): string {
  const chosen = ALERT_KINDS.flatMap((kind) => {
    const threshold = ALERT_THRESHOLDS[kind]
    return threshold === null
      ? []
      : [`${kind} ${threshold.min} to ${threshold.max} ${threshold.unit}, default ${threshold.fallback}`]
  })
  return `${chosen.join('; ')}. NothingArrives has none.`
}

/** What a threshold of this kind must be. */
export function thresholdWords(kind: AlertKind): string {
  const allowed = ALERT_THRESHOLDS[kind]
  if (allowed === null) return `${kind} has no threshold`
  return `the threshold of ${kind} must be from ${allowed.min} to ${allowed.max} ${allowed.unit}`
}

/** Whether a rule that fits the schema has a threshold that its kind may have. */
export function fitsThreshold({ kind, threshold }: AlertRule): boolean {
  const allowed = ALERT_THRESHOLDS[kind]
  return threshold === undefined || (allowed !== null && threshold >= allowed.min && threshold <= allowed.max)
}

/** The threshold that holds for this website, 0 for a kind that has none; null if the rule is switched off. An empty website is the organisation. */
export function thresholdFor(rules: readonly AlertRule[], kind: AlertKind, website: string): number | null {
  const own = rules.filter((rule) => rule.kind === kind)
  const rule = own.find((each) => each.website === website) ?? own.find((each) => each.website === undefined)
  if (rule?.off === true) return null
  return rule?.threshold ?? ALERT_THRESHOLDS[kind]?.fallback ?? 0
}
