/** Reads a `kafka:` URL: brokers, TLS, SASL, and how topics are laid out (docs/kafka.md). */

import { unusable } from '../../../domain/host.ts'
import { keysOf, recordOf } from '../../../domain/typed-keys.ts'
import { TOPIC_GROUPS, type TopicGroup } from './topic-groups.ts'

const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const
type SaslMechanism = (typeof SASL_MECHANISMS)[number]

export interface KafkaSasl {
  readonly mechanism: SaslMechanism
  readonly username: string
  readonly password: string
}

/** Names of PEM files. */
export interface KafkaTls {
  readonly caFile: string | null
  readonly certFile: string | null
  readonly keyFile: string | null
}

/** How topics are created, and what existing ones are checked against. */
export interface TopicLayout {
  readonly partitions: Readonly<Record<TopicGroup, number>>
  readonly replication: number
  readonly minInSync: number
  /** True: settings that can lose acknowledged entries are reported, not refused. */
  readonly isUnsafeAllowed: boolean
}

export interface KafkaSettings {
  /** `host:port` each; at least one. */
  readonly brokers: readonly string[]
  readonly tls: KafkaTls | null
  readonly sasl: KafkaSasl | null
  /** Prefix of every topic and group name. */
  readonly prefix: string
  readonly layout: TopicLayout
}

export type KafkaUrl =
  { readonly ok: true; readonly value: KafkaSettings } | { readonly ok: false; readonly why: string }

const MAX_BROKERS = 50
const MAX_PORT = 65_535
const DEFAULT_PORT = 9_092
const MAX_PARTITIONS = 1_000
const MAX_REPLICATION = 10
const GROUPS = keysOf(TOPIC_GROUPS)
const PARTITIONS_OF = recordOf(GROUPS, (group) => `partitions-${group}`)
const KNOWN: readonly string[] = [
  'tls',
  'ca',
  'cert',
  'key',
  'sasl',
  'prefix',
  'partitions',
  ...Object.values(PARTITIONS_OF),
  'replication',
  'min-in-sync',
  'unsafe',
]

/** A refusal's `why` completes "NAME …" and never repeats the text, which may carry a password. */
export function parseKafkaUrl(text: string): KafkaUrl {
  const match = /^kafka:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/?(?:\?([^#]*))?$/.exec(text)
  if (match === null) return unusable('must look like kafka://HOST:PORT,HOST:PORT?tls=1')
  const brokers = brokersOf(match[2] ?? '')
  if (brokers === null) return unusable('names brokers that are not HOST:PORT, separated by commas')
  const query = new URLSearchParams(match[3] ?? '')
  const problem = kafkaQueryProblem(query)
  if (problem !== null) return unusable(problem)
  const sasl = saslOf(match[1] ?? '', query.get('sasl'))
  if (typeof sasl === 'string') return unusable(sasl)
  const tls = kafkaTlsOf(query)
  if (typeof tls === 'string') return unusable(tls)
  const layout = topicLayout(query)
  if (typeof layout === 'string') return unusable(layout)
  return { ok: true, value: { brokers, tls, sasl, prefix: query.get('prefix') ?? '', layout } }
}

function kafkaQueryProblem(query: URLSearchParams): string | null {
  for (const name of query.keys()) {
    if (!KNOWN.includes(name)) return `has a parameter that is none of ${KNOWN.join(', ')}`
    if (query.getAll(name).length > 1) return `has ${name} twice`
  }
  if (!['0', '1'].includes(query.get('tls') ?? '0')) return 'has tls that is neither 0 nor 1'
  if (!['refuse', 'allow'].includes(query.get('unsafe') ?? 'refuse')) {
    return 'has unsafe that is neither refuse nor allow'
  }
  if (!/^[A-Za-z0-9._-]{0,64}$/.test(query.get('prefix') ?? '')) {
    return 'has a prefix with more than letters, digits, dots, hyphens and underscores, or above 64 characters'
  }
  return null
}

function brokersOf(text: string): readonly string[] | null {
  const brokers: string[] = []
  for (const part of text.split(',')) {
    const match = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(part)
    const port = Number(match?.[2] ?? DEFAULT_PORT)
    if (match === null || port < 1 || port > MAX_PORT) return null
    brokers.push(`${match[1] ?? ''}:${port}`)
  }
  return brokers.length <= MAX_BROKERS ? brokers : null
}

function saslOf(userInfo: string, mechanism: string | null): KafkaSasl | null | string {
  if (userInfo === '' && mechanism === null) return null
  if (userInfo === '') return 'names a SASL mechanism without user name and password'
  const known = SASL_MECHANISMS.find((name) => name === (mechanism ?? 'scram-sha-512'))
  if (known === undefined) return `has sasl that is none of ${SASL_MECHANISMS.join(', ')}`
  const colon = userInfo.indexOf(':')
  if (colon < 1) return 'has a user name without a password'
  try {
    const username = decodeURIComponent(userInfo.slice(0, colon))
    const password = decodeURIComponent(userInfo.slice(colon + 1))
    return { mechanism: known, username, password }
  } catch {
    return 'has a user name or password with a broken percent code'
  }
}

function kafkaTlsOf(query: URLSearchParams): KafkaTls | null | string {
  const caFile = query.get('ca')
  const certFile = query.get('cert')
  const keyFile = query.get('key')
  if ((certFile === null) !== (keyFile === null)) return 'needs cert and key together'
  if (query.get('tls') === '1') return { caFile, certFile, keyFile }
  return caFile === null && certFile === null ? null : 'names TLS files without tls=1'
}

function topicLayout(query: URLSearchParams): TopicLayout | string {
  const partitions = partitionsOf(query)
  if (typeof partitions === 'string') return partitions
  const replication = smallNumber(query.get('replication') ?? '3', MAX_REPLICATION)
  if (replication === null) return `has a replication that is not a number from 1 to ${MAX_REPLICATION}`
  // One copy may be missing without stopping writes; all others hold what is acknowledged.
  const minInSync = smallNumber(query.get('min-in-sync') ?? String(Math.max(1, replication - 1)), replication)
  if (minInSync === null) return 'has min-in-sync that is not a number from 1 to the replication'
  return { partitions, replication, minInSync, isUnsafeAllowed: query.get('unsafe') === 'allow' }
}

/** Of a group, of all topics, or the default of the group, in this order. */
function partitionsOf(query: URLSearchParams): TopicLayout['partitions'] | string {
  const given = recordOf(GROUPS, (group) => query.get(PARTITIONS_OF[group]) ?? query.get('partitions'))
  const wrong = GROUPS.find((group) => given[group] !== null && smallNumber(given[group], MAX_PARTITIONS) === null)
  if (wrong !== undefined) {
    const name = query.has(PARTITIONS_OF[wrong]) ? PARTITIONS_OF[wrong] : 'partitions'
    return `has ${name} that is not a number from 1 to ${MAX_PARTITIONS}`
  }
  return recordOf(GROUPS, (group) => (given[group] === null ? TOPIC_GROUPS[group].partitions : Number(given[group])))
}

function smallNumber(text: string, most: number): number | null {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0
  return count >= 1 && count <= most ? count : null
}
