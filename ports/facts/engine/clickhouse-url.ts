/** Reads the URL of a ClickHouse server: database, TLS, and how its tables are laid out (docs/clickhouse.md). */

import { isPercentCoded, unusable } from '../../../domain/host.ts'
import type { TableLayout } from './connection.ts'

/** Names of PEM files. */
export interface ClickHouseTls {
  readonly caFile: string
  readonly certFile: string | null
  readonly keyFile: string | null
}

interface ClickHouseSettings {
  /** `http(s)://user:password@host:port/database`, without parameters. */
  readonly url: string
  /** Null for plain HTTP, and if the system's certificate authorities suffice. */
  readonly tls: ClickHouseTls | null
  readonly layout: TableLayout
}

type ClickHouseUrl =
  { readonly ok: true; readonly value: ClickHouseSettings } | { readonly ok: false; readonly why: string }

const KNOWN = ['ca', 'cert', 'key', 'replicated', 'cluster']
/** Statements contain cluster names as text. */
const CLUSTER = /^[A-Za-z0-9_.{}-]{1,64}$/

/** A refusal's `why` completes "NAME …" and never repeats the text, which may carry a password. */
export function parseClickHouseUrl(text: string): ClickHouseUrl {
  const parsed = URL.canParse(text) ? new URL(text) : null
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol) || parsed.hash !== '') {
    return unusable('must look like http://USER:PASSWORD@HOST:8123/DATABASE')
  }
  if (!/^\/[A-Za-z0-9_-]*$/.test(parsed.pathname))
    return unusable('names a database that is more than letters, digits, _ and -')
  const problem = loginProblem(parsed) ?? clickHouseQueryProblem(parsed.searchParams)
  if (problem !== null) return unusable(problem)
  const tls = clickHouseTlsOf(parsed)
  if (typeof tls === 'string') return unusable(tls)
  const layout = tableLayout(parsed.searchParams)
  if (typeof layout === 'string') return unusable(layout)
  parsed.search = ''
  return { ok: true, value: { url: parsed.href, tls, layout } }
}

function loginProblem({ username, password }: URL): string | null {
  return isPercentCoded(username) && isPercentCoded(password)
    ? null
    : 'has a user name or password with a broken percent code'
}

function clickHouseQueryProblem(query: URLSearchParams): string | null {
  for (const name of query.keys()) {
    if (!KNOWN.includes(name)) return `has a parameter that is none of ${KNOWN.join(', ')}`
    if (query.getAll(name).length > 1) return `has ${name} twice`
  }
  return null
}

function clickHouseTlsOf({ protocol, searchParams: query }: URL): ClickHouseTls | null | string {
  const caFile = query.get('ca')
  const certFile = query.get('cert')
  const keyFile = query.get('key')
  if (caFile === null && certFile === null && keyFile === null) return null
  if (protocol !== 'https:') return 'names TLS files without https'
  if ((certFile === null) !== (keyFile === null)) return 'needs cert and key together'
  // We know of no use for a client certificate with the system's authorities.
  if (caFile === null) return 'needs ca beside cert and key'
  return { caFile, certFile, keyFile }
}

function tableLayout(query: URLSearchParams): TableLayout | string {
  const replicated = query.get('replicated') ?? '0'
  const cluster = query.get('cluster')
  if (!['0', '1'].includes(replicated)) return 'has replicated that is neither 0 nor 1'
  const isReplicated = replicated === '1'
  if (cluster === null) return { isReplicated }
  if (!CLUSTER.test(cluster))
    return 'has a cluster with more than letters, digits and _ . - { }, or above 64 characters'
  // Each server would hold different rows, and every query would see only some of them.
  if (!isReplicated) return 'names a cluster without replicated=1'
  return { isReplicated, cluster }
}
