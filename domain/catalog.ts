/** The compiled configuration as every role sees it: immutable, without credentials, swapped whole. */

import type {
  BucketAddressing,
  BucketEncryption,
  CrossOrigin,
  DestinationMode,
  EventType,
  HookScan,
  Inclusion,
  LogStreamStart,
  OwnedWebsite,
  Plan,
  VisitPolicy,
  WebhookEventType,
  WebhookFormat,
  WebsiteId,
} from './model.ts'
import type { AlertRule } from './alerts/rules.ts'
import type { PlanUse } from './plan.ts'
import { PROVIDER_DESCRIPTORS, type ProviderId } from './providers/index.ts'

export interface InstallPath {
  readonly id: string
  readonly displayName: string
  readonly isPaused: boolean
}

/** Who may refer to this object, besides its own namespace. */
export interface AllowedNamespaces {
  readonly from: 'Same' | 'All' | 'Selector'
  readonly selector?: LabelSelector
}

/** As everywhere in Kubernetes: all requirements must hold, and an empty selector matches everything. */
interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly LabelRequirement[]
}

export interface LabelRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values?: readonly string[]
}

/** The custom resource that something was compiled from. */
export interface CompiledFrom {
  readonly namespace: string
  readonly objectName: string
  /** Other namespaces that may use it. */
  readonly allowedNamespaces?: AllowedNamespaces
  /** Absent: it belongs to the operator of the service. */
  readonly tenant?: string
}

/** Which records of Logs a log stream sends; empty lists: all. */
interface LogStreamFilter {
  readonly websites: readonly WebsiteId[]
  readonly kinds: readonly string[]
  readonly minStatus: number
}

/** Where a log stream writes its objects. */
interface LogStreamBucket {
  /** An https origin. */
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string
  readonly addressing: BucketAddressing
  /** Null: the store does what the bucket says. */
  readonly encryption: BucketEncryption | null
}

interface LogStreamWebhook {
  readonly url: string
  /** When the previous secret stops signing, in Unix ms. Null, and absent in catalogs of releases before: it signs as long as it is referred to. */
  readonly previousSecretUntilMs?: number | null
}

/** Forwards the Logs of its organisation. */
export interface LogStream {
  /** Namespace and name of its resource: `default/acme-logs`. */
  readonly id: string
  /** Of its resource, another one when that is deleted and made again; empty if unknown, as in catalogs of releases before. */
  readonly uid: string
  readonly namespace: string
  readonly objectName: string
  readonly displayName: string
  /** Either this or `s3`. */
  readonly webhook: LogStreamWebhook | null
  readonly s3: LogStreamBucket | null
  readonly isPaused: boolean
  readonly filter: LogStreamFilter
  readonly includeBodies: boolean
  readonly startFrom: LogStreamStart
  readonly compress: boolean
  /** How long records gather before they are written to a bucket. */
  readonly flushSeconds: number
}

/** Sends the organisation's events to an address of its own. */
export interface Webhook {
  /** Namespace and name of its resource: `default/acme-events`. */
  readonly id: string
  readonly namespace: string
  readonly objectName: string
  readonly displayName: string
  readonly format: WebhookFormat
  /** Empty with the format Slack: the address is a secret. */
  readonly url: string
  /** Without repeats. */
  readonly events: readonly WebhookEventType[]
  readonly isPaused: boolean
  /** When the previous secret stops signing, in Unix ms. Null: it signs as long as it is referred to. */
  readonly previousSecretUntilMs: number | null
}

export interface Organization extends CompiledFrom {
  /** `organizationId`: `acme`, or `team/acme` outside of the namespace `default`; of an unusual tenant `acme@tenant`. */
  readonly id: string
  readonly displayName: string
  readonly plan: Plan
  readonly logRetentionDays: number
  /** By its name in the IANA database; decides days in figures. */
  readonly timeZone: string
  readonly alertRules: readonly AlertRule[]
  /** Oldest first. */
  readonly installPaths: readonly InstallPath[]
  /** The install path that counts installs without a valid path; null only if the organisation has no path. */
  readonly firstInstallPath: string | null
  /** The oldest first. */
  readonly logStreams: readonly LogStream[]
  /** The oldest first. */
  readonly webhooks: readonly Webhook[]
}

export interface Destination {
  /** `metadata.name`: the ID that answers and logs show. */
  readonly id: string
  readonly website: WebsiteId
  readonly organization: string
  /** Namespace of its own resource, whose name is its ID. */
  readonly namespace: string
  readonly displayName: string
  readonly provider: ProviderId
  readonly mode: DestinationMode
  readonly eventTypes: readonly EventType[]
  readonly reconstructionWindowHours: number
  /** Whether it gets installs in CI and in containers. */
  readonly ci: Inclusion
  /** Whether it gets every event of an installation; only of advertising providers that is asked. */
  readonly repeats: Inclusion
  /** The provider's block of the resource without the references to secrets, for example `{ measurementId }`. */
  readonly settings: Readonly<Record<string, unknown>>
}

export interface RegisteredPage {
  readonly id: string
  readonly origin: string
  readonly path: string
}

export interface Website extends CompiledFrom {
  readonly id: WebsiteId
  readonly organization: Organization
  readonly displayName: string
  readonly primaryOrigin: string
  /** All registered origins, normalised: the primary one, additional domains and those of pages. */
  readonly origins: ReadonlySet<string>
  readonly pages: readonly RegisteredPage[]
  readonly providers: ReadonlySet<ProviderId>
  readonly retentionDays: number
  readonly hookScan: HookScan
  readonly crossOrigin: CrossOrigin
  /** Hosts that are no source, such as those of sign-in and payment; as `URL.hostname` spells them. */
  readonly ignoredReferrers: readonly string[]
  readonly selectionPolicy: VisitPolicy
  /** If more installations than this are matched to one visit within a day, an activity entry is written. */
  readonly installationsPerVisitWarning: number
  /** In order of creation, then name. */
  readonly destinations: readonly Destination[]
  /** Of the website's GA4 destinations, in their order, without repeats. */
  readonly measurementIds: readonly string[]
}

/** Whose the website is, as everything that is stored about it says. */
export function ownedWebsite({ id, organization }: Website): OwnedWebsite {
  return { organization: organization.id, website: id }
}

/** A catalog by the number that it was put into force under. */
export interface NumberedCatalog {
  /** The number that it was put into force under (`catalog-number.ts`); 0 before that. */
  readonly number: number
}

/** Who is served. */
export interface CatalogOrganizations {
  readonly organizations: ReadonlyMap<string, Organization>
}

/** Websites by their ID. */
export interface CatalogWebsites {
  readonly websites: ReadonlyMap<WebsiteId, Website>
}

export interface Catalog extends NumberedCatalog, CatalogOrganizations, CatalogWebsites {
  /** Digest of the compiled form; two equal catalogs have equal versions. */
  readonly version: string
  /** Origins registered with at least one website: only these get preflight answers. */
  readonly origins: ReadonlySet<string>
}

/** Credentials of destinations, log streams and webhooks, by `destinationKey`, `logStreamKey` and `webhookKey`; only the roles that deliver get them. */
export type Credentials = ReadonlyMap<string, Readonly<Record<string, string>>>

export interface CatalogSecrets {
  readonly credentials: () => Credentials
}

export function destinationKey({ organization, website }: OwnedWebsite, destination: string): string {
  return `${organization}/${website}/${destination}`
}

/** No website's ID has capital letters. */
export function logStreamKey({ id }: { readonly id: string }): string {
  return `LogStream/${id}`
}

/** Names of its credentials: `secret`, and `previous` if the secret before it is kept. */
export function webhookKey({ id }: { readonly id: string }): string {
  return `Webhook/${id}`
}

/** Of each installation its install alone: whoever pays for clicks must not be told one twice. */
export function getsInstallsAlone({ provider, repeats }: Destination): boolean {
  return PROVIDER_DESCRIPTORS[provider].isAdvertising && repeats === 'Exclude'
}

/**
 * The destination of a job or a plan; null if it is gone, or if its name now belongs to a destination of another provider or another
 * organisation.
 */
export function findDestination(
  { websites }: CatalogWebsites,
  { destination, provider, ...owned }: OwnedWebsite & { readonly destination: string; readonly provider: ProviderId },
): Destination | null {
  const destinations = findOwned({ websites }, owned)?.destinations ?? []
  return destinations.find((each) => each.id === destination && each.provider === provider) ?? null
}

/** The website, if it still belongs to this organisation. */
export function findOwned({ websites }: CatalogWebsites, owned: OwnedWebsite): Website | null {
  const website = websites.get(owned.website)
  return website?.organization.id === owned.organization ? website : null
}

/** One fault of one object: its place, the field, and a reason that helps to fix it. */
export interface CatalogProblem {
  /** For example `Website/acme-dev`. */
  readonly object: string
  /** For example `quickstart.yaml, document 2, line 14`; empty if there is no file. */
  readonly source: string
  /** JSON pointer into the object, empty for the object as a whole. */
  readonly field: string
  /** CamelCase, from a closed set, which the operator's conditions share. */
  readonly reason: string
  readonly message: string
  /** ID of the organisation that the object belongs to, as far as its references say. */
  readonly organization?: string
  /** What the plan allows, if that is the problem. */
  readonly plan?: PlanUse
  /** The object is in force despite the problem. */
  readonly isWarning?: true
}
