/** Port: sends one mail. Rejects where it was not taken; the caller tries again or gives up. */

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface Mailer {
  /** Resolves when the server has taken it. Rejects with `MailRefused` where trying again would not help. */
  readonly send: (mail: Mail) => Promise<void>
  readonly close: () => void
}

/** The server refused it for good. Carries no address and no text. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused'
}
