/** Whether a page's Content Security Policy lets the SDK in: its script, and its requests to the service. */

/** What is loaded, and by which directive it is judged; the first that a policy has counts. */
const DIRECTIVES = {
  script: ['script-src-elem', 'script-src', 'default-src'],
  connect: ['connect-src', 'default-src'],
} as const

export interface Loaded {
  readonly as: keyof typeof DIRECTIVES
  readonly url: URL
  /** Of the script tag. */
  readonly nonce: string | null
}

/** The directive that keeps it out; null if none does. Several policies hold at the same time, each for itself. */
export function blockingDirective(policies: readonly string[], page: URL, loaded: Loaded): string | null {
  for (const policy of policies.flatMap((each) => each.split(','))) {
    const directives = readPolicy(policy)
    const name = DIRECTIVES[loaded.as].find((each) => directives.has(each))
    if (name !== undefined && !mayLoad(directives.get(name) ?? [], page, loaded)) return name
  }
  return null
}

/** By name; of two of one name the first counts. */
function readPolicy(policy: string): ReadonlyMap<string, readonly string[]> {
  const directives = new Map<string, readonly string[]>()
  for (const part of policy.split(';')) {
    const [name = '', ...sources] = part.trim().split(/\s+/)
    if (!directives.has(name.toLowerCase())) directives.set(name.toLowerCase(), sources)
  }
  return directives
}

function mayLoad(sources: readonly string[], page: URL, { as, url, nonce }: Loaded): boolean {
  if (as === 'script' && nonce !== null && sources.includes(`'nonce-${nonce}'`)) return true
  // Then addresses count for nothing; a script that a trusted one adds may run, and only a browser knows that.
  if (as === 'script' && sources.some((each) => each.toLowerCase() === "'strict-dynamic'")) return false
  return sources.some((source) => sourceFits(source, page, url))
}

const HOST_SOURCE = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\*|(?:\*\.)?[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::(\d+|\*))?(\/[^?#]*)?$/i

function sourceFits(source: string, page: URL, url: URL): boolean {
  if (source === '*') return /^(?:https?|wss?):$/.test(url.protocol)
  if (source.toLowerCase() === "'self'") return url.origin === page.origin
  if (/^[a-z][a-z0-9+.-]*:$/i.test(source)) return schemeFits(source.toLowerCase(), url)
  const [, scheme, host = '', port, path] = HOST_SOURCE.exec(source) ?? []
  if (host === '') return false
  const scheming = scheme === undefined ? page.protocol : `${scheme.toLowerCase()}:`
  return schemeFits(scheming, url) && hostFits(host.toLowerCase(), url) && portFits(port, url) && pathFits(path, url)
}

/** A plain scheme also stands for its encrypted one. */
function schemeFits(scheme: string, { protocol }: URL): boolean {
  return scheme === protocol || (scheme === 'http:' && protocol === 'https:')
}

function hostFits(host: string, { hostname }: URL): boolean {
  if (host === '*') return true
  return host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host
}

function portFits(port: string | undefined, url: URL): boolean {
  const own = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
  if (port === '*') return true
  if (port !== undefined) return port === own || (port === '80' && own === '443')
  return url.port === ''
}

function pathFits(path: string | undefined, { pathname }: URL): boolean {
  if (path === undefined || path === '/') return true
  return path.endsWith('/') ? pathname.startsWith(path) : pathname === path
}
