/** What all files of the SDK need of a page. */

import * as debug from './debug.ts'

/** True if the browser requests that its visitor's data is not sold or shared. */
export const hasGpc = () => !!(navigator as Navigator & { globalPrivacyControl?: boolean }).globalPrivacyControl

/** Resolves with nothing after this time. */
export const wait = (ms: number) => new Promise<undefined>((resolve) => setTimeout(resolve, ms))

/** The result of the call, or undefined if it throws: pages may have blocked or replaced anything of the browser's. */
export function safely<T>(call: () => T): T | undefined {
  try {
    return call()
  } catch (error) {
    if (DEBUG) reportProblem(error)
    return undefined
  }
}

/** Problems are for the page's owner, who sees them with `data-debug`; the page itself never sees an error. */
export const reportProblem = (problem: unknown) => {
  try {
    if (DEBUG) debug.explainFailure(problem)
  } catch {
    // What was thrown has no words, or the page has blocked what would say them.
  }
}
