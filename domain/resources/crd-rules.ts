/** The rules of custom resources that a schema cannot express, written as expressions that the API server evaluates. */

import { ALERT_KINDS, type AlertKind } from '../alerts/alert.ts'
import { ALERT_THRESHOLDS, thresholdWords } from '../alerts/rules.ts'
import { SELECTOR_MESSAGE, VALUES_MESSAGE } from './allowed-namespaces.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { LIMITS, PLAN_LIMITS } from '../limits.ts'
import { ZONE_NAMES } from '../zone-countries.ts'
import type { Plan } from '../model.ts'
import { PLANS } from '../model.ts'
import { LOG_STREAM_RULES } from './log-stream-schema.ts'
import { WEBHOOK_RULES } from './webhook-schema.ts'
import { MEMBER_RULES } from './member-schema.ts'
import { PROVIDER_DESCRIPTORS, PROVIDER_IDS, type ProviderId } from '../providers/index.ts'
import type { ResourceKind } from './resources.ts'

/** One entry of `x-kubernetes-validations`; the message completes a sentence that begins with the field. */
export interface CelRule {
  readonly rule: string
  readonly message: string
}

/** Rules about a whole object: `metadata.name` is visible only there. */
export const OBJECT_RULES: { readonly [K in ResourceKind]: readonly CelRule[] } = {
  Organization: [displayNameFits(), tenantStays()],
  Website: [displayNameFits(), idFits(), idStays(), tenantStays()],
  InstallPath: [displayNameFits(), idFits(), idStays(), tenantStays()],
  Destination: [displayNameFits(), tenantStays()],
  LogStream: [displayNameFits(), tenantStays()],
  Webhook: [displayNameFits(), tenantStays()],
  Member: [tenantStays()],
  ApiKey: [displayNameFits(), tenantStays()],
  ShareLink: [displayNameFits(), tenantStays()],
}

/** Rules about `spec`. */
export const SPEC_RULES: { readonly [K in ResourceKind]: readonly CelRule[] } = {
  Organization: [retentionFitsPlan(), timeZoneIsKnown(), ...ALERT_KINDS.map(thresholdFits)],
  Website: [],
  InstallPath: [],
  Destination: PROVIDER_IDS.map(hasOwnBlock),
  Member: MEMBER_RULES,
  ApiKey: [],
  ShareLink: [],
  Webhook: WEBHOOK_RULES,
  LogStream: LOG_STREAM_RULES,
}

const LIST = 'self.selector.matchExpressions'
const TAKES_VALUES = "(each.operator == 'In' || each.operator == 'NotIn')"

/** Rules about `spec.allowedNamespaces`. They are on the block itself, so that a write without it costs nothing. */
export const ALLOWED_NAMESPACES_RULES: readonly CelRule[] = [
  { rule: "(self.from == 'Selector') == has(self.selector)", message: SELECTOR_MESSAGE },
  {
    rule: `!has(self.selector) || !has(${LIST}) || ${LIST}.all(each, ${TAKES_VALUES} == (has(each.values) && size(each.values) > 0))`,
    message: `selector.matchExpressions ${VALUES_MESSAGE}`,
  },
]

/**
 * Rules about one text, from its pattern and the kind of its address. Patterns are here and not in the schema so that kubectl
 * can say in words what is required. Only the outer form of addresses is checked: the compiler normalises hosts and makes
 * the final decision.
 */
export function textRules({ pattern, patternMeaning, address }: JsonSchema): readonly CelRule[] {
  const rules: CelRule[] = []
  if (pattern !== undefined) {
    rules.push({ rule: matches(pattern), message: patternMeaning ?? `must match ${pattern}` })
  }
  if (address !== undefined) rules.push(addressRule(address))
  return rules
}

/**
 * Of ASCII only the characters of hosts; of other scripts anything. The API server compiles a pattern for every write,
 * including status writes, and Unicode classes, or letters folded by `(?i:)`, make that slow.
 */
const HOST = String.raw`(\[[0-9A-Fa-f:.]+\]|[^\x00-,/:-@\[-^\x60{-\x7f]+)(:[0-9]{1,5})?`
const LOOPBACK = String.raw`(localhost|[A-Za-z0-9.-]+[.]localhost|127[.][0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}|\[::1\])(:[0-9]{1,5})?`

function addressRule(address: 'origin' | 'page' | 'outbound'): CelRule {
  if (address === 'outbound') {
    const rule = matches(String.raw`^(?i:https)://[^/?#\\@\s]+([/?][^\\#\s]*)?$`)
    return { rule, message: 'must be a plain https address: no user name, fragment, space or backslash' }
  }
  const end = address === 'origin' ? '/?' : String.raw`(/[^\s?#]*)?`
  const rule = matches(`^((?i:https)://${HOST}|(?i:http://${LOOPBACK}))${end}$`)
  return address === 'origin'
    ? { rule, message: 'must be an origin such as https://acme.dev: https, a host, no path and no wildcard' }
    : { rule, message: 'must be the address of a page such as https://acme.dev/install, without query and fragment' }
}

function displayNameFits(): CelRule {
  return {
    rule: `has(self.spec.displayName) || size(self.metadata.name) <= ${LIMITS.nameChars}`,
    message: `spec.displayName is missing, and metadata.name has more than ${LIMITS.nameChars} characters`,
  }
}

function idFits(): CelRule {
  return {
    rule: `has(self.spec.id) || (size(self.metadata.name) <= ${LIMITS.websiteIdChars} && !self.metadata.name.contains('.'))`,
    message: `spec.id is missing, and metadata.name cannot stand in: it has dots or more than ${LIMITS.websiteIdChars} characters`,
  }
}

/** The ID in effect, so that writing out the ID that the name implies is no change. */
function idStays(): CelRule {
  const id = (object: string) => `(has(${object}.spec.id) ? ${object}.spec.id : ${object}.metadata.name)`
  return { rule: `${id('self')} == ${id('oldSelf')}`, message: 'spec.id cannot be changed; create a new object' }
}

/** Labels cannot be protected like this: of the metadata, rules see only the name. */
function tenantStays(): CelRule {
  const tenant = (object: string) => `(has(${object}.spec.tenant) ? ${object}.spec.tenant : '')`
  return { rule: `${tenant('self')} == ${tenant('oldSelf')}`, message: 'spec.tenant cannot be changed' }
}

function retentionFitsPlan(): CelRule {
  const most = (plan: Plan) => PLAN_LIMITS[plan].logRetentionDays
  const choice = PLANS.slice(1).reduceRight(
    (rest, plan) => `self.plan == '${plan}' ? ${most(plan)} : ${rest}`,
    String(most(PLANS[0])),
  )
  const words = PLANS.map((plan) => `${plan} ${most(plan)}`).join(', ')
  return {
    rule: `!has(self.logRetentionDays) || self.logRetentionDays <= (${choice})`,
    message: `logRetentionDays is above the most that the plan allows: ${words}`,
  }
}

/** The compiler knows the same names. */
function timeZoneIsKnown(): CelRule {
  return {
    rule: `self.timeZone in [${ZONE_NAMES.map((name) => `'${name}'`).join(', ')}]`,
    message: 'timeZone must be a name of the IANA database, such as Europe/Berlin',
  }
}

function thresholdFits(kind: AlertKind): CelRule {
  const allowed = ALERT_THRESHOLDS[kind]
  const fits = allowed === null ? 'false' : `each.threshold >= ${allowed.min} && each.threshold <= ${allowed.max}`
  return {
    rule: `!has(self.alerts) || self.alerts.rules.all(each, each.kind != '${kind}' || !has(each.threshold) || (${fits}))`,
    message: `alerts.rules: ${thresholdWords(kind)}`,
  }
}

function hasOwnBlock(provider: ProviderId): CelRule {
  const { field } = PROVIDER_DESCRIPTORS[provider].block
  return {
    rule: `(self.provider == '${provider}') == has(self.${field})`,
    message: `must have the block ${field} if the provider is ${provider}, and only then`,
  }
}

/** A raw text in the expression language has no escapes, so the pattern must not contain its quote. */
/** RE2 writes a code point otherwise than JavaScript. */
function matches(pattern: string): string {
  return `self.matches(r'${pattern.replaceAll(/\\u([0-9a-f]{4})/g, String.raw`\x{$1}`)}')`
}
