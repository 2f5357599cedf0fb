/** The service's mark: many ways that lead to one install. As an address, so that no page needs a file for it. */

const MARK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0d6b53"/><path d="M6.5 8c8 0 6.5 8 12.5 8M6.5 16H19M6.5 24c8 0 6.5-8 12.5-8" fill="none" stroke="#fff" stroke-width="2.5" stroke-linecap="round"/><circle cx="22.5" cy="16" r="3.5" fill="#fff"/></svg>`

/** Of a `link` with `rel="icon"`; the pages draw it beside their name, too. */
export const FAVICON = `data:image/svg+xml,${encodeURIComponent(MARK)}`
