/** The landing that another origin of the website has put on a link: `_whence` in the address. */

/**
 * The address as the link had it: without `_whence`, whatever a server has put behind it, and with all its other bytes. A fragment that was
 * only that is gone, also where a router by fragment has made a path of it.
 */
export const withoutCarried = (url: string): string =>
  url.replace(/([?&#]\/?)_whence=[^&#]*(&?)/, (_, before: string, after: string) => after && before)
