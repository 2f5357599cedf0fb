/** Notices the route changes of a single-page application. */

/**
 * Calls back after each change of the address that loads no document. Browsers without the Navigation API keep to one visit per
 * document: wrapping the page's own history functions is not worth the risk.
 */
export function watchRoutes(onChange: () => void): void {
  const { navigation } = window as Window & { navigation?: EventTarget }
  navigation?.addEventListener('currententrychange', onChange)
}
