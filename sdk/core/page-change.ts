/** Watches a page for install commands that it shows later. */

/** Changes of a page follow each other closely, and a look at the whole page is not free. */
const LOOK_MS = 100

/** Calls `look` soon after something was inserted or marked as a command, until it answers true. */
export function onPageChange(look: () => unknown): void {
  let timer = 0
  const observer = new MutationObserver(
    () =>
      (timer ||= setTimeout(() => {
        timer = 0
        if (look()) observer.disconnect()
      }, LOOK_MS)),
  )
  observer.observe(document, {
    childList: true,
    subtree: true,
    attributeFilter: ['data-whence-command', 'data-whence-copy'],
  })
}
