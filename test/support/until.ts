/** Waits for conditions. */

const LOOK_EVERY_MS = 2

/** Resolves once the condition is met; the test's own timeout bounds the wait. */
export async function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isMet())) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
}
