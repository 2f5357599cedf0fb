/**
 * The shared types of the SDK's parts: a page, its websites' scopes, and the extras. Only types, so that they form no
 * import cycle.
 */

import type { CustomFields, Handoff, Whence } from '../whence.d.ts'
import type { Landing, PageArrival } from './landing.ts'
import type { FirstGroup, PageView } from './source.ts'

/** The body of an answer. Errors of the service have the key `error`. */
export type ServiceAnswer = Readonly<Record<string, unknown>>

/** The answer of `browser-config`. */
export interface BrowserConfig {
  readonly measurementIds: readonly string[]
  readonly providers: readonly string[]
}

/** What a page sends, as far as other parts than `visit.ts` know of it. */
export interface VisitBody {
  /** These arrive later; a visitor who leaves before that is counted without them. */
  client?: object
  test?: string | undefined
  identities?: Readonly<Record<string, object | undefined>>
  previous_receipt?: string | null
  /** Put right once the website's origins are known. */
  source: object
  sitting: string | undefined
  entry: boolean | undefined
  readonly project: string
  readonly page_url: string | undefined
  readonly referrer: string | undefined
  readonly url_id: string
  readonly gpc: boolean
}

/**
 * The page's options: the attributes of the script tag, without `data-`, or the options of the package. All are
 * optional.
 */
interface TagAttributes {
  /** `granted` if absent; any word but `granted` and `denied` counts as `required`. */
  readonly consent?: string | undefined
  /** ID of the registered page that the document shows. Another path of the document is another page. */
  readonly pageId?: string | undefined
  /** If present, nothing is counted until the page calls `start`. */
  readonly manual?: string | undefined
  /** If present, a route change to another path counts as a page of its own. */
  readonly spa?: string | undefined
  /** CSS selectors of install commands and of their copy buttons, besides marked elements. */
  readonly commands?: string | undefined
  readonly copyButtons?: string | undefined
  /** Hosts, besides the page's own website, whose scripts are the vendor's own; separated by spaces. */
  readonly scriptHosts?: string | undefined
  /** Prefix of GA4's cookies, as given to its tag as `cookie_prefix`. */
  readonly ga4CookiePrefix?: string | undefined
  /** Name of the environment variable that carries a token, instead of `WHENCE_HANDOFF`. */
  readonly variable?: string | undefined
  /** CSS selector of the commands whose `data-whence-template` counts. */
  readonly templates?: string | undefined
  /** `query`: what a link to another origin carries always goes into its query, for pages that read the fragment. */
  readonly carry?: string | undefined
  /** Domain whose cookie keeps the landing for all its hosts. */
  readonly share?: string | undefined
  /** `off`: no marker is kept, and only a token links an install to a visit. */
  readonly markers?: string | undefined
}

export interface PageOptions {
  /** Address of the service, or of a proxy path in front of it, ending in a slash. */
  readonly serviceUrl: string
  /** Website ID. */
  readonly project: string
  /** From the script tag; passed on to the extras. */
  readonly nonce: string
  readonly tagAttributes: TagAttributes
}

/** Functions of the core by which other parts read the page, so that none brings its own. */
export interface PageReading {
  /** A value of the document that no element of the page replaces. */
  readonly documentValue: (name: 'cookie') => string
  readonly firstGroup: FirstGroup
}

export interface Page extends PageOptions, PageReading {
  /** Resolves after this time. */
  readonly wait: (ms: number) => Promise<undefined>
  /** The page at the script's first moment: what the visitor came to, however the page changes it later. */
  readonly view: PageView
  /** False if consent cannot change it: denied for good, or an insecure page. */
  readonly mayCollect: boolean
  /** Changed by `grant` and `deny`. */
  isAllowed: boolean
  /** False if only a call starts counting. */
  readonly isAutomatic: boolean
  /** The address with what it carries to another origin of the website; set once the keeper is loaded. */
  linkFor?: (scope: Scope, url: string) => string
  /** The command with a token that is already loaded; undefined if there is none, or no place for it. Set once the extras are loaded. */
  fill?: (scope: Scope, text: string) => string | undefined
  /** By website ID. */
  readonly scopes: Map<string, Scope>
  /** The scope of a website, made if there is none; without a name, that of the script tag. */
  readonly scopeOf: (project?: string) => Scope
  readonly recorder: PartOfSdk<VisitRecorder>
  readonly keeper: PartOfSdk<Keeper>
  /** Does what consent and the page's options allow by now: a count that is due, commands that the page shows. Harmless to repeat. Never throws. */
  readonly resume: () => void
  /**
   * What a part answers; it is loaded once per document. Undefined if it is blocked, unreachable, was altered on the way, or cannot
   * answer. Never rejects.
   */
  readonly ask: <P extends LoadedPart, T>(
    part: PartOfSdk<P>,
    call: (loaded: P) => T | Promise<T>,
  ) => Promise<T | undefined>
  /** The same of the extras. */
  readonly askExtras: <T>(call: (extras: Extras) => T | Promise<T>) => Promise<T | undefined>
}

/** A part of the SDK that only some pages load. */
export interface PartOfSdk<T> {
  readonly place: PartPlace<T>
  /** Set once it is loaded. */
  loaded?: T
  /** Set once somebody has asked for it. Rejects if it cannot be loaded. */
  loading?: Promise<T>
}

export interface LoadedPart {
  /** Serves the page from now on. */
  readonly attend?: (page: Page) => void
}

/** A script of the service: its address below the base, which contains the beginning of its digest. */
export type ScriptPlace = string
/** In the package a part is the import of a module. */
type PartPlace<T> = ScriptPlace | (() => Promise<T>)

/** One website on this page. The extras work through it, too. */
export interface Scope {
  readonly project: string
  /** Of what the origin remembers, in local storage. */
  readonly memoryKey: string
  readonly adapters: Map<string, () => CustomFields | Promise<CustomFields>>
  /** True if the page is to be counted as soon as consent allows. */
  isDue: boolean
  /** True once a token is requested: a visit then stops waiting for tags. */
  isUrgent?: boolean
  /**
   * Counts the path, now or as soon as consent allows, unless it is counted already; resolves when that is done or
   * abandoned. Never rejects.
   */
  readonly count: () => Promise<void> | undefined
  /** Settles when no visit is in progress. */
  running?: Promise<void>
  /** The receipt of the current visit. The extras set that of a handoff-only visit, which is stored nowhere else. */
  currentReceipt?: string | undefined
  /** Sends nothing without consent; an answer that arrives after consent was withdrawn is dropped. */
  readonly send: (path: string, body?: object, leaving?: Event) => Promise<ServiceAnswer>
  /** Begins to describe the last page view, for a visit of its own. Rejects without consent. */
  readonly draft: () => Promise<VisitDraft>
  /** Removes what was stored in this browser, and counts again after the next consent. */
  readonly forget: () => void
  /** The website's interface for the page's own code. */
  readonly whence: Whence
}

/** What the core calls once the extras are loaded. */
export interface Extras extends LoadedPart {
  /** Null if the service gives no token. Never rejects. */
  readonly handoff: (scope: Scope) => Promise<Handoff | null>
  /** The same, but waits a short time for a token that is being requested. */
  readonly command: (scope: Scope, text: string) => Promise<string | undefined>
  /** Counts a copied command, once for a page view. */
  readonly copied: (scope: Scope) => Promise<void>
  /** Requests a token in advance, if the page is counted. */
  readonly prepare: (scope: Scope) => Promise<void>
  /** Adds what the website's own adapters read. Not called under Global Privacy Control. */
  readonly addCustom: (body: VisitBody, adapters: Scope['adapters']) => Promise<void>
  /** Leaves out what the service's limit has no room for. */
  readonly fit: (body: VisitBody) => Promise<void>
  /** Serves the page's marked commands and copy buttons. */
  readonly attend: (page: Page) => void
}

/** What is known of a visit before any part has loaded. */
export interface VisitDraft {
  readonly body: VisitBody
  readonly landing: PageArrival
  /** The answer of `browser-config`, which is asked for while the recorder loads. */
  readonly configuring: Promise<ServiceAnswer>
  /** The service's answer to the visit, once that is sent. */
  sent?: Promise<ServiceAnswer>
}

/** Sends a visit unless it is sent already, and resolves with the service's answer. */
type SendVisit = () => Promise<ServiceAnswer>

/** What the core calls for each visit. */
export interface VisitRecorder extends LoadedPart {
  /** Sends the visit with all that is known of it, and keeps its marker if the browser keeps any. Rejects if the service does not know the website or does not answer. */
  readonly record: (page: Page, scope: Scope, draft: VisitDraft, send: SendVisit) => Promise<void>
  /** Adds what the service, the tags and the extras know. Rejects in the same cases. */
  readonly complete: (page: Page, scope: Scope, draft: VisitDraft) => Promise<void>
}

/** What the core and the recorder call to keep what later page views and installers need. */
export interface Keeper extends LoadedPart {
  /** Puts an arrival right by the website's origins, and its visit with it. */
  readonly settle: (page: Page, scope: Scope, draft: VisitDraft) => Promise<void>
  /** Keeps the marker of a visit, and activates its receipt. Where no markers are kept, it only prepares for links. */
  readonly keep: (scope: Scope, body: VisitBody, marker: KeptMarker) => Promise<void>
  /** What the extras answer: the keeper loads them. */
  readonly askExtras: <T>(page: Page, call: (extras: Extras) => T | Promise<T>) => Promise<T | undefined>
  /** Removes every marker of this origin, and the shared cookie. */
  readonly forget: (page: Page, scope: Scope) => Promise<void>
}

/** The service's answer to a visit, stored unchanged. */
export interface KeptMarker {
  readonly receipt: string
  readonly url_id: string
}

/** What a reader sees of the visitor. */
export interface SeenVisitor {
  /**
   * Looks up one cookie by name; undefined if it is absent, empty, or longer than an identifier may be. `isAwaited`: the provider's own tag
   * writes it once it has loaded, and the visit waits for it, for a short time.
   */
  readonly cookieOf: ReadCookie
  /**
   * The click of the landing, unless the provider's cookie, `own`, counts: of a click that was only remembered and the cookie the newer
   * does, and the cookie if it does not say when it was written.
   */
  readonly clickOf: (parameter: string, own?: string, writtenAt?: string) => string | undefined
  readonly firstGroup: FirstGroup
  readonly landing: Landing
}

export type ReadCookie = (name: string, isAwaited?: boolean) => string | undefined

/**
 * A part that websites with its provider load: the identifiers by their names in a visit, undefined if there are none. Undefined values
 * vanish in JSON.
 */
export interface IdentityReader extends LoadedPart {
  (visitor: SeenVisitor): object | undefined
}
