/** Port: sends one mail. Rejects if it was not accepted; the caller tries again or gives up. */

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** Reply address, if it is not the sender. */
  readonly replyTo?: string
  /** Of a mail that comes again and again. */
  readonly regular?: RegularMail
}

interface RegularMail {
  /** The same as the text, as a document. */
  readonly html: string
  /** Where the person ends such mails: opened by them, or called by their mail program (RFC 8058). */
  readonly endUrl: string
}

export interface Mailer {
  /**
   * Resolves when the server has accepted it. Rejects with `MailRefused` if a retry would not help. The ID, hex digits, is the
   * same at every try.
   */
  readonly send: (mail: Mail & { readonly id: string }) => Promise<void>
  readonly close: () => void
}

/** The server refused it for good. Carries no address and no text. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused'
}
