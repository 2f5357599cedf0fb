/** A text of the set-up to paste, and where it goes. */

export interface SetUpSnippet {
  /** The step of the set-up that it completes. */
  readonly step: 'script' | 'command' | 'scan' | 'report'
  /** Completes "Copy …". */
  readonly what: string
  /** A file, or a place in words; a sentence without its full stop. */
  readonly where: string
  readonly text: string
}
