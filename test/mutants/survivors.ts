/** Generated mutants that no test can or need notice, each with the reason; a survivor that is not here is a failure. */

export interface Survivor {
  readonly file: string
  /** The line as it is, and as it is with the mutant, both without white space around them. */
  readonly line: string
  readonly changed: string
  /** Why nothing that anybody can see differs. */
  readonly reason: string
}

export const SURVIVORS: readonly Survivor[] = []
