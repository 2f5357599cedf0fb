/** Reads the SDK's script tag in the source of a page: which website and service it names, and what it leaves out. */

/** As the page's source has it; null for an attribute that is absent. */
export interface ScriptTag {
  readonly website: string | null
  /** Ends in a slash. */
  readonly serviceUrl: string
  /** `data-consent`. */
  readonly consent: string | null
  readonly isManual: boolean
  /** `data-carry="query"`: what its links carry goes into the query. */
  readonly carriesInQuery: boolean
  readonly nonce: string | null
}

const SDK_FILE = /\/browser(?:\.debug)?(?:\.[0-9a-f]{12})?\.js$/

/** The first tag of the SDK; null if the source has none. `page` is the page's address. */
export function findScriptTag(html: string, page: URL): ScriptTag | null {
  for (const [text] of html.matchAll(/<script\b[^>]*>/gi)) {
    const tag = readTag(text, page)
    if (tag !== null) return tag
  }
  return null
}

function readTag(tag: string, page: URL): ScriptTag | null {
  const src = URL.parse(attribute(tag, 'src') ?? '', page.href)
  if (src === null || !SDK_FILE.test(src.pathname)) return null
  return {
    website: attribute(tag, 'data-project'),
    serviceUrl: new URL('.', src).href,
    consent: attribute(tag, 'data-consent'),
    isManual: /\sdata-manual\b/i.test(tag),
    carriesInQuery: attribute(tag, 'data-carry') === 'query',
    nonce: attribute(tag, 'nonce'),
  }
}

/** Value of an attribute; null if the tag has none of that name, or it has no value. */
export function attribute(tag: string, name: string): string | null {
  const [, double, single, bare] = new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)'|([^\\s>"']+))`, 'i').exec(tag) ?? []
  return double ?? single ?? bare ?? null
}
