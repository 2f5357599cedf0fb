/** The names of markers, which the hook looks for. */

export const MARKER_PREFIX = 'install-attribution-'

/** The file's name, unique to this page of the website. */
export const markerName = (website: string, urlId: string) => `${MARKER_PREFIX}${website}-${urlId}.json`
