/** Opens pages in the browser of a check, and waits for what they show. */

import type { Page } from 'playwright-core'

const LOAD_MS = 30_000
/** A visit waits up to two seconds for the cookies of tags, and the service has eight to answer. */
export const STEP_MS = 12_000
/** The name of the SDK's interface, which pages use to start it, for example after consent. */
const INTERFACE_JS = 'typeof window.whence?.scope'

/** Null once the address is loaded; otherwise why it is not, in one line. */
export async function failureToLoad(page: Page, address: string): Promise<string | null> {
  try {
    await page.goto(address, { waitUntil: 'load', timeout: LOAD_MS })
    return null
  } catch (error) {
    return String(error).split('\n')[0] ?? ''
  }
}

/** Whether an expression of the page becomes true. */
export function becomesTrue(page: Page, expression: string): Promise<boolean> {
  return page.waitForFunction(expression, undefined, { timeout: STEP_MS }).then(
    () => true,
    () => false,
  )
}

/** Whether the page starts the SDK. */
export function startsSdk(page: Page): Promise<boolean> {
  return becomesTrue(page, `${INTERFACE_JS} === 'function'`)
}
