/** The service's mark: the document's own icon. */
export const MARK = document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href ?? ''
