/** The public interface of the browser SDK: `window.whence`. */

/** A handoff token with the time until which it is valid. */
export interface Handoff {
  /** `wht_` and 43 characters, safe to place unquoted in a shell command. */
  readonly token: string
  /** Unix milliseconds. */
  readonly expiresAt: number
}

/** What a custom adapter may return: at most 10 fields, each value at most 256 characters. */
export type CustomFields = Readonly<Record<string, string | number | boolean>>

/** Detail of the bubbling `whence:copy` event that a `data-whence-copy` button fires after a copy. */
export interface CopyDetail {
  /** True if the copied command carries a token. */
  readonly filled: boolean
}

/** One website's view of the page. `window.whence` is that of the script tag's website. */
export interface Whence {
  /** The website ID from the script tag, or from the call of `scope`. */
  readonly project: string
  /**
   * Counts the page if it has not been counted since the document was loaded. Needed only with `data-manual`, or for
   * the pages of a single-page application without `data-spa`. Resolves when the visit is recorded or abandoned; never
   * rejects.
   */
  start(): Promise<void>
  /** The visitor agrees: from now on the SDK works as if `data-consent` were `granted`. Has no effect under `data-consent="denied"`. */
  grant(): void
  /**
   * The visitor refuses or withdraws: nothing is read or sent any more, and the markers of this origin and its
   * memory of the landing are deleted.
   */
  deny(): void
  /**
   * Requests a handoff token, at most once per visit. `null` if there is none: no consent, service unreachable. Never
   * rejects.
   */
  handoff(): Promise<Handoff | null>
  /**
   * The command with the token filled in; unchanged if there is no token within two seconds, or no place known to be
   * safe for one. Never rejects.
   */
  command(text: string): Promise<string>
  /**
   * The same at once: filled if the token is already loaded, otherwise unchanged. Safe in a click handler that writes
   * to the clipboard.
   */
  fill(text: string): string
  /**
   * The address for a script that opens one of the website's other origins: it carries where the visitor came from. Unchanged if it
   * leads elsewhere, if the origins are not known yet, and without consent.
   */
  link(url: string): string
  /**
   * Says that the visitor has copied an install command by the page's own code. Commands and copy buttons that are marked
   * say so themselves. Counts once for a page view.
   */
  copied(): void
  /**
   * Requests the token in advance if the page is counted, as a marked command does when it comes into view. Unlike
   * `handoff` it never adds a visit.
   */
  prepare(): void
  /**
   * Registers a custom adapter: a visit carries its fields under `identities.custom.<name>`. Register it before the
   * visit is sent, that is in a `push` callback. At most 10; what exceeds a limit is left out. Not called under Global
   * Privacy Control.
   */
  adapter(name: string, read: () => CustomFields | Promise<CustomFields>): void
  /**
   * The same interface for another website whose registered pages include this one; counts the page for it too. From then
   * on commands of the page may name that website.
   */
  scope(project: string): Whence
  /**
   * Runs the callback with this interface, at once. Before the script has loaded, `(window.whence ||= []).push(fn)`
   * queues it. What the callback throws is reported as an error of the page, and does not reach the caller.
   */
  push(callback: (whence: Whence) => void): void
}

/** What `push` takes. */
export type WhenceCallback = (whence: Whence) => void

declare global {
  interface Window {
    /**
     * Absent until the script has loaded. Scripts that run before it queue callbacks with `(window.whence ||=
     * []).push(callback)`; in TypeScript: `(window.whence ??= [] as unknown as Whence).push(callback)`.
     */
    whence?: Whence
  }
  interface DocumentEventMap {
    'whence:copy': CustomEvent<CopyDetail>
  }
  interface WindowEventMap {
    'whence:copy': CustomEvent<CopyDetail>
  }
  interface HTMLElementEventMap {
    'whence:copy': CustomEvent<CopyDetail>
  }
}
