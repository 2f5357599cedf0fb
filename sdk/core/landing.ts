/** What the tab remembers about how its visitor arrived. */

/**
 * How the visitor reached the website, with the names of the API if there are any. Kept in the tab's session storage, so that the
 * page with the install command knows it too. It is kept before the service has said which providers the website uses, so it has the
 * click IDs of all of them; a visit carries those of the website's own.
 */
export interface Landing {
  /** Unix ms. */
  readonly landed_at: number
  /** Origin and path of the previous page; empty if there was none, as that of a later page must not count instead. */
  readonly referrer: string
  readonly utm: Readonly<Record<string, string>>
  /** Origin and path of the landing page. */
  readonly page: string | undefined
  /** By the parameter's name. */
  readonly clicks: Readonly<Record<string, string>>
}
