/** Keeps what a link has carried out of the page's address, although routers put it back. */

import { withoutCarried } from '../core/carried.ts'
import { globalOf } from '../core/global.ts'
import { safely } from '../core/page.ts'
import { carriedIn } from './placing.ts'

/** Routers by fragment make a path of it. */
const IN_FRAGMENT = /#\/?_whence=/
/** A router that never gives in keeps its address. */
let triesLeft = 10

/**
 * The core has taken it off once, as early as it could: `landedAt` is the address before that. Looks again now, after the load event, and after
 * each change of the route.
 */
export function keepAddressPlain(landedAt: string): void {
  if (carriedIn(landedAt) === undefined) return
  // A router may have read the fragment before that, and shows nothing for it.
  if (IN_FRAGMENT.test(landedAt)) tellRouters(landedAt)
  takeOff()
  // In tasks of their own: after what the page itself does at these moments.
  addEventListener('load', () => setTimeout(takeOff))
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  const navigation = globalOf('navigation') as EventTarget | undefined
  navigation?.addEventListener('currententrychange', () => setTimeout(takeOff))
  addEventListener('popstate', () => setTimeout(takeOff))
}

function takeOff(): void {
  safely(() => {
    const { href } = location
    const plain = withoutCarried(href)
    if (plain === href || triesLeft-- <= 0) return
    history.replaceState(history.state, '', plain)
    if (IN_FRAGMENT.test(href)) tellRouters(href)
  })
}

/** As the browser does after any change of the fragment, which `replaceState` is not. */
function tellRouters(oldURL: string): void {
  dispatchEvent(new PopStateEvent('popstate', { state: null }))
  dispatchEvent(new HashChangeEvent('hashchange', { oldURL, newURL: location.href }))
}
