/** Notices the route changes of a single-page application. */

/** Calls back after each change of the address that loads no document. Used only where the page asks for it with `data-spa`. */
export function watchRoutes(onChange: () => void): void {
  const { navigation } = window as Window & { navigation?: EventTarget }
  if (navigation) return navigation.addEventListener('currententrychange', onChange)
  addEventListener('popstate', onChange)
  for (const name of ['pushState', 'replaceState'] as const) {
    const original = history[name]
    history[name] = (...change) => {
      original.apply(history, change)
      onChange()
    }
  }
}
