/** The custom resources as data: their schemas, built from the limits, and the types of checked ones. */

import { ALERTS_SCHEMA, type AlertRule } from '../alerts/rules.ts'
import type { AllowedNamespaces } from '../catalog.ts'
import { API_KEY_SCHEMA, type ApiKeySpec } from './api-key-schema.ts'
import { allowedNamespacesSchema } from './allowed-namespaces.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { LIMITS, PLAN_LIMITS } from '../limits.ts'
import type { CrossOrigin, DestinationMode, EventType, HookScan, Inclusion, Plan, VisitPolicy } from '../model.ts'
import {
  CROSS_ORIGINS,
  DESTINATION_MODES,
  EVENT_TYPES,
  HOOK_SCANS,
  INCLUSIONS,
  PLANS,
  VISIT_POLICIES,
} from '../model.ts'
import { LOG_STREAM_SCHEMA, type LogStreamSpec } from './log-stream-schema.ts'
import { MEMBER_SCHEMA, type MemberSpec } from './member-schema.ts'
import { SHARE_LINK_SCHEMA, type ShareLinkSpec } from './share-link-schema.ts'
import { PROVIDER_DESCRIPTORS, PROVIDER_IDS, type ProviderId } from '../providers/index.ts'
import { address, displayName, hostName, id, installation, paymentId, resourceRef, tenant } from './resource-fields.ts'
import { WEBHOOK_SCHEMA, type WebhookSpec } from './webhook-schema.ts'
import { memberOf, objectOf } from '../strict-json.ts'

export const RESOURCE_GROUP = 'whence.dev'
export const RESOURCE_API_VERSION = `${RESOURCE_GROUP}/v1alpha1`

export const RESOURCE_KINDS = [
  'Organization',
  'Website',
  'InstallPath',
  'Destination',
  'LogStream',
  'Webhook',
  'Member',
  'ApiKey',
  'ShareLink',
] as const
export type ResourceKind = (typeof RESOURCE_KINDS)[number]

/** Whether objects of this kind name a website, and belong to its organisation. */
export function isOfWebsite(kind: string): boolean {
  return kind === 'Destination' || kind === 'ShareLink'
}

interface ObjectRef {
  readonly name: string
}

/** The object's own namespace if absent. */
export interface ResourceRef extends ObjectRef {
  readonly namespace?: string
}

/** The name and namespace of a reference in a spec that may be faulty. */
export function refIn(spec: unknown, field: string): Partial<ResourceRef> {
  const { name, namespace } = objectOf(memberOf(spec, field))
  return {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof namespace === 'string' ? { namespace } : {}),
  }
}

/** Fields that the specs of all kinds have. */
interface InstallationSpec {
  /** Name of the installation that it is for. */
  readonly installation?: string
  /** Absent: it belongs to the operator of the service. */
  readonly tenant?: string
}

interface OrganizationSpec extends InstallationSpec {
  readonly displayName?: string
  readonly plan: Plan
  readonly logRetentionDays?: number
  readonly timeZone: string
  readonly alerts?: { readonly rules: readonly AlertRule[] }
  readonly defaultInstallPath?: string
  readonly billing?: { readonly customer: string; readonly subscription?: string; readonly price?: string }
  readonly allowedNamespaces?: AllowedNamespaces
}

interface WebsiteSpec extends InstallationSpec {
  readonly organizationRef: ResourceRef
  readonly id?: string
  readonly displayName?: string
  readonly primaryOrigin: string
  readonly additionalDomains: readonly string[]
  readonly pages: readonly { readonly id: string; readonly url: string }[]
  readonly providers: readonly ProviderId[]
  readonly retentionDays: number
  readonly hook: { readonly scan: HookScan }
  readonly crossOrigin: CrossOrigin
  readonly ignoredReferrers: readonly string[]
  readonly selectionPolicy: VisitPolicy
  readonly warnings: { readonly installationsPerVisit: number }
  readonly allowedNamespaces?: AllowedNamespaces
}

interface InstallPathSpec extends InstallationSpec {
  readonly organizationRef: ResourceRef
  readonly id?: string
  readonly displayName?: string
  readonly paused: boolean
}

interface DestinationSpec extends InstallationSpec {
  readonly websiteRef: ResourceRef
  readonly displayName?: string
  readonly provider: ProviderId
  readonly mode: DestinationMode
  readonly eventTypes?: readonly EventType[]
  readonly reconstructionWindowHours: number
  readonly ci: Inclusion
  readonly repeats: Inclusion
  /** Exactly one of the providers' blocks, under its own name. */
  readonly [block: string]: unknown
}

/** A checked spec of each kind, with all defaults that do not depend on other objects. */
export interface Specs {
  readonly Organization: OrganizationSpec
  readonly Website: WebsiteSpec
  readonly InstallPath: InstallPathSpec
  readonly Destination: DestinationSpec
  readonly LogStream: InstallationSpec & LogStreamSpec
  readonly Webhook: InstallationSpec & WebhookSpec
  readonly Member: MemberSpec
  readonly ApiKey: InstallationSpec & ApiKeySpec
  readonly ShareLink: InstallationSpec & ShareLinkSpec
}

/** Longest list of additional domains that is checked; the plan's own limit is far below. */
const MOST_DOMAINS = 100
const LOG_RETENTION_MOST_DAYS = Math.max(...PLANS.map((plan) => PLAN_LIMITS[plan].logRetentionDays))

const organizationRef = resourceRef('The Organization this belongs to.', "the organisation's `allowedNamespaces`")

const organization: JsonSchema = {
  type: 'object',
  description:
    'Owns websites and has a plan. Anyone who may write an Organization can set its plan. Its data belongs to its namespace, name and tenant: made again with all three it finds that data, and with another one it starts without any.',
  required: ['plan'],
  properties: {
    displayName,
    plan: {
      type: 'string',
      description:
        'Sets limits and the monthly quota of tracked events. On a service of your own it is yours to choose; organisations that people make by signing up get `--default-plan`.',
      enum: PLANS,
    },
    logRetentionDays: {
      type: 'integer',
      description: `Days that Logs are kept, up to the plan's maximum. Default ${LIMITS.logRetentionDays.fallback}, or the maximum if that is less.`,
      minimum: LIMITS.logRetentionDays.min,
      maximum: LOG_RETENTION_MOST_DAYS,
    },
    timeZone: {
      type: 'string',
      description:
        'Time zone of days in figures, mails and alerts, by its name in the IANA database, such as `Europe/Berlin`. Quotas stay in UTC.',
      default: 'UTC',
      minLength: 1,
      maxLength: LIMITS.timeZoneChars,
    },
    alerts: ALERTS_SCHEMA,
    defaultInstallPath: {
      ...id,
      description: 'ID of the install path that counts installs without a valid one; default: the oldest.',
    },
    billing: {
      type: 'object',
      description: "The payment provider's IDs for the organisation. Only the dashboard's billing writes them.",
      required: ['customer'],
      properties: {
        customer: paymentId('Its customer, made for this organisation and no other.'),
        subscription: paymentId('The subscription; absent once it has ended.'),
        price: paymentId('The price of the subscription.'),
      },
    },
    allowedNamespaces: allowedNamespacesSchema('organisation'),
  },
}

const website: JsonSchema = {
  type: 'object',
  description: 'A website whose visits are recorded; requests call its ID `project`.',
  required: ['organizationRef', 'primaryOrigin'],
  properties: {
    organizationRef,
    id: {
      ...id,
      description:
        'Website ID: immutable, unique in the whole installation. Default: the name of the object. Another organisation that gets the ID later gets nothing of what was recorded before.',
    },
    displayName,
    primaryOrigin: address('origin', 'The origin visits come from, for example https://acme.dev.'),
    additionalDomains: {
      type: 'array',
      description: "More origins; the primary one counts toward the plan's limit of domains.",
      default: [],
      maxItems: MOST_DOMAINS,
      items: address('origin', 'An origin, for example https://docs.acme.dev.'),
    },
    pages: {
      type: 'array',
      description:
        "Pages with an ID of their own; their origins count as registered, and toward the plan's limit of domains.",
      default: [],
      maxItems: LIMITS.pagesPerWebsite,
      items: {
        type: 'object',
        description: 'A page with an ID of its own.',
        required: ['id', 'url'],
        properties: {
          id: { ...id, description: 'ID of the page, which visits may send as `url_id`.' },
          url: address('page', 'The address of the page, for example https://acme.dev/install.'),
        },
      },
    },
    providers: {
      type: 'array',
      description: 'The providers whose identifiers visits may keep. GA4 identities are kept whenever they are sent.',
      default: [],
      maxItems: PROVIDER_IDS.length,
      uniqueItems: true,
      items: { type: 'string', description: 'A provider.', enum: PROVIDER_IDS },
    },
    retentionDays: {
      type: 'integer',
      description:
        'Days that visits and installs are kept. If it is made shorter, what is older is hidden at once and then deleted for good.',
      default: LIMITS.retentionDays.fallback,
      minimum: LIMITS.retentionDays.min,
      maximum: LIMITS.retentionDays.max,
    },
    hook: {
      type: 'object',
      description: 'How the shell hook behaves when installers run it.',
      default: { scan: 'Notice' },
      properties: {
        scan: {
          type: 'string',
          description:
            'Whether the hook looks for markers: with one line that names the opt-out, without it, or not at all.',
          default: 'Notice',
          enum: HOOK_SCANS,
        },
      },
    },
    crossOrigin: {
      type: 'string',
      description:
        "Whether a link from one of the website's origins to another carries where the visitor came from, as `_whence` in its address.",
      default: 'Carry',
      enum: CROSS_ORIGINS,
    },
    ignoredReferrers: {
      type: 'array',
      description:
        'Hosts that visitors come back from and that are no source, such as those of sign-in and payment. Each counts alone, without its subdomains.',
      default: [],
      maxItems: LIMITS.ignoredReferrers,
      uniqueItems: true,
      items: hostName('A host, for example accounts.google.com.'),
    },
    selectionPolicy: {
      type: 'string',
      description:
        'Which visit an install is matched to if the machine holds receipts of several: the newest or the oldest. A change applies to installs that arrive later.',
      default: 'latest_visit',
      enum: VISIT_POLICIES,
    },
    warnings: {
      type: 'object',
      description: 'Limits above which the activity reports something unusual.',
      default: { installationsPerVisit: LIMITS.installationsPerVisit.fallback },
      properties: {
        installationsPerVisit: {
          type: 'integer',
          description:
            'Installations that may be matched to one visit within a UTC day; one more writes an activity entry. Raise it if your visitors pass their install command on.',
          default: LIMITS.installationsPerVisit.fallback,
          minimum: LIMITS.installationsPerVisit.min,
          maximum: LIMITS.installationsPerVisit.max,
        },
      },
    },
    allowedNamespaces: allowedNamespacesSchema('website'),
  },
}

const installPath: JsonSchema = {
  type: 'object',
  description: 'One way to install a product, by which installs are counted.',
  required: ['organizationRef'],
  properties: {
    organizationRef,
    id: { ...id, description: 'Unique in the organisation. Default: the name of the object.' },
    displayName,
    paused: {
      type: 'boolean',
      description: 'Installs are only counted: receipts and tokens are not read.',
      default: false,
    },
  },
}

const destination: JsonSchema = {
  type: 'object',
  description: 'An account at a provider that installs of a website are delivered to. Its name is the ID in answers.',
  required: ['websiteRef', 'provider'],
  properties: {
    websiteRef: resourceRef('The Website whose installs are delivered.', "the website's `allowedNamespaces`"),
    displayName,
    provider: { type: 'string', description: "Exactly this provider's block must be filled in.", enum: PROVIDER_IDS },
    mode: {
      type: 'string',
      description: "Validate sends to the provider's test facility or checks locally; Live delivers; Paused skips.",
      default: 'Validate',
      enum: DESTINATION_MODES,
    },
    eventTypes: {
      type: 'array',
      description: 'Default: all three for ga4, install_completed and first_run for the others.',
      minItems: 1,
      maxItems: EVENT_TYPES.length,
      uniqueItems: true,
      items: { type: 'string', description: 'A type of install event.', enum: EVENT_TYPES },
    },
    reconstructionWindowHours: {
      type: 'integer',
      description: "How long after the visit an install still counts toward the visit's original session.",
      default: LIMITS.reconstructionHours.fallback,
      minimum: LIMITS.reconstructionHours.min,
      maximum: LIMITS.reconstructionHours.max,
    },
    ci: {
      type: 'string',
      description: 'Whether installs in CI and in containers are delivered, too.',
      default: 'Exclude',
      enum: INCLUSIONS,
    },
    repeats: {
      type: 'string',
      description:
        'Whether upgrades, reinstalls and later events of an installation are delivered, too. An advertising provider gets its install alone by default; GA4 gets all events.',
      default: 'Exclude',
      enum: INCLUSIONS,
    },
    ...Object.fromEntries(Object.values(PROVIDER_DESCRIPTORS).map(({ block }) => [block.field, block.schema])),
  },
}

/** The kind of this name. @throws Error if there is none: nothing else is asked for by its kind */
export function kindOf(name: string): ResourceKind {
  const kind = RESOURCE_KINDS.find((each) => each === name)
  if (kind === undefined) throw new Error(`no kind of resource has the name ${name}`)
  return kind
}

export function specSchemaOf(kind: string): JsonSchema {
  return SPEC_SCHEMAS[kindOf(kind)]
}

/** JSON Schema of `spec` by kind. Custom resource definitions and `docs/resources.md` are made from the same data. */
export const SPEC_SCHEMAS: { readonly [K in ResourceKind]: JsonSchema } = {
  Organization: forInstallations(organization),
  Website: forInstallations(website),
  InstallPath: forInstallations(installPath),
  Destination: forInstallations(destination),
  LogStream: forInstallations(LOG_STREAM_SCHEMA),
  Webhook: forInstallations(WEBHOOK_SCHEMA),
  Member: forInstallations(MEMBER_SCHEMA),
  ApiKey: forInstallations(API_KEY_SCHEMA),
  ShareLink: forInstallations(SHARE_LINK_SCHEMA),
}

function forInstallations(schema: JsonSchema): JsonSchema {
  return { ...schema, properties: { ...schema.properties, installation, tenant } }
}
