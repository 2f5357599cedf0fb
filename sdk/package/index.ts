/** The browser SDK of Whence as a module: the same as the script tag, started by a call. */

import { boot } from '../core/boot.ts'
import { globalOf } from '../core/global.ts'
import { safely } from '../core/page.ts'
import type { Whence, WhenceCallback } from '../whence.d.ts'

export type { CopyDetail, CustomFields, Handoff, Whence, WhenceCallback } from '../whence.d.ts'

export interface StartOptions {
  /** ID of the website. */
  readonly project: string
  /** Address of the service, or of a path of your own site that proxies to it: `https://whence.example` or `/w`. */
  readonly service: string
  /** `required`: nothing is read, stored or sent until `grant()` is called. Default: `granted`. */
  readonly consent?: 'granted' | 'required' | 'denied' | undefined
  /** ID of the registered page that the document shows. */
  readonly pageId?: string | undefined
  /** Nothing is counted until `start()` of the result is called. Default: false. */
  readonly manual?: boolean | undefined
  /** A route change to another path counts as a page of its own. Default: true. */
  readonly spa?: boolean | undefined
  /** CSS selectors of install commands and their copy buttons, besides those marked by attributes. */
  readonly commands?: string | undefined
  readonly copyButtons?: string | undefined
  /** Hosts, besides the page's own website, whose scripts are yours. */
  readonly scriptHosts?: readonly string[] | undefined
  /** CSS selector of the commands whose `data-whence-template` counts. */
  readonly templates?: string | undefined
  /** Environment variable that carries a token, for a service with its own brand. Default: `WHENCE_HANDOFF`. */
  readonly variable?: string | undefined
  /** `query`: what a link to another origin carries goes into its query, for pages that read the fragment. */
  readonly carry?: 'query' | undefined
  /** Domain whose cookie keeps the landing for all its hosts, such as `acme.dev`. */
  readonly share?: string | undefined
  /** `off`: no marker is kept in the browser, and only a token links an install to a visit. */
  readonly markers?: 'off' | undefined
  /** The `cookie_prefix` of your GA4 tag. */
  readonly ga4CookiePrefix?: string | undefined
}

/**
 * The interface on a server, or on a page without the necessary browser features: every command stays as it is.
 *
 * @internal
 */
export const INERT: Whence = {
  project: '',
  start: () => Promise.resolve(),
  grant: () => undefined,
  deny: () => undefined,
  handoff: () => Promise.resolve(null),
  command: (text) => Promise.resolve(text),
  fill: (text) => text,
  link: (url) => url,
  copied: () => undefined,
  prepare: () => undefined,
  adapter: () => undefined,
  scope: () => INERT,
  push: (callback) => void (async () => callback(INERT))(),
}

/**
 * The interface of this page; that of a server until the SDK has started.
 *
 * @internal
 */
export const started = (): Whence => {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  const whence = safely(() => globalOf('whence')) as Partial<Whence> | false | undefined
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  return whence && typeof whence.scope === 'function' ? (whence as Whence) : INERT
}

/**
 * Calls back with the interface of this page, once the SDK has started.
 *
 * @internal
 */
export function whenStarted(callback: WhenceCallback): void {
  safely(() => {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- until the SDK has started, the interface is a queue
    const queue = (globalOf('whence') || (window.whence = [] as unknown as Whence)) as Pick<Whence, 'push'>
    // An element of that name has no such method.
    queue.push(callback)
  })
}

/**
 * Starts the SDK on this page and counts the page as soon as that is allowed. A second call joins the first, and so
 * does a script tag: a page is counted once. On a server it does nothing, and the interface it returns leaves every
 * command as it is. Never throws.
 */
export function start(options: StartOptions): Whence {
  if (typeof window === 'undefined') return INERT
  try {
    return boot(pageOptionsOf(options))
  } catch {
    return INERT
  }
}

function pageOptionsOf(options: StartOptions): Parameters<typeof boot>[0] {
  const { project, service, manual = false, spa = true, scriptHosts, ...tagAttributes } = options
  return {
    project,
    serviceUrl: new URL(`${service.replace(/\/$/, '')}/`, location.href).href,
    nonce: '',
    tagAttributes: {
      ...tagAttributes,
      manual: manual ? '' : undefined,
      spa: spa ? '' : undefined,
      scriptHosts: scriptHosts?.join(' '),
    },
  }
}
