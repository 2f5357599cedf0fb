/** What an origin remembers about how its visitor arrived. */

/**
 * How the visitor reached the website, with the names of the API if there are any. It is kept before the service has said which providers
 * the website uses, so it has the click IDs of all of them; a visit carries those of the website's own.
 */
export interface Landing {
  /** Unix ms. */
  readonly landed_at: number
  /** Origin and path of the previous page; empty if there was none, as that of a later page must not count instead. */
  readonly referrer: string
  readonly utm: Readonly<Record<string, string>>
  /** Origin and path of the landing page. */
  readonly page: string | undefined
  /** `ref` or `source` of its address. */
  readonly ref?: string | undefined
  /** Name of the parameter of an advertising click. */
  readonly click?: string | undefined
  /** By the parameter's name. */
  readonly clicks: Readonly<Record<string, string>>
  /** The landing was on an earlier page view. */
  readonly carried?: boolean | undefined
}

/**
 * Kept in local storage for 30 days after the landing, so that the page with the install command knows it too: in another tab, and on
 * another day.
 */
export interface OriginMemory extends Landing {
  /** Names the page views of one sitting. */
  readonly sitting: string | undefined
  /** Unix ms of the last page view. */
  readonly seen_at: number
}

/** How a page view relates to what its origin remembers. */
export interface PageArrival extends OriginMemory {
  /** The page view begins its sitting. */
  readonly entry?: boolean | undefined
}
