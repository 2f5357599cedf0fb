/** A page as somebody uses it who has no mouse: elements are reached by Tab alone. */

import type { Locator, Page } from 'playwright-core'

export interface Keyboard {
  /** Goes on with Tab until the element has the focus. Throws if that never happens. */
  readonly reach: (element: Locator) => Promise<void>
  readonly press: (element: Locator) => Promise<void>
  readonly type: (element: Locator, text: string) => Promise<void>
  /** Opens a page of the navigation: `g` and its letter. */
  readonly go: (letter: string) => Promise<void>
}

/** As a browser has it: these types are those of Node.js. */
interface ShownWindow {
  readonly document: { readonly activeElement: unknown }
}

/** No page of ours has as many elements that take the focus. */
const MOST_TABS = 300

export function keyboardOf(page: Page): Keyboard {
  const { keyboard } = page
  const hasFocus = (element: Locator): Promise<boolean> =>
    element.evaluate((node) => node === (globalThis as unknown as ShownWindow).document.activeElement)
  const reach = async (element: Locator): Promise<void> => {
    const wanted = element.first()
    await wanted.waitFor()
    for (let tabs = 0; tabs < MOST_TABS; tabs++) {
      if (await hasFocus(wanted)) return
      await keyboard.press('Tab')
    }
    throw new Error(`Tab does not lead to ${String(element)}`)
  }
  return {
    reach,
    async press(element) {
      await reach(element)
      await keyboard.press('Enter')
    },
    async type(element, text) {
      await reach(element)
      await keyboard.type(text)
    },
    async go(letter) {
      await keyboard.press('g')
      await keyboard.press(letter)
    },
  }
}
