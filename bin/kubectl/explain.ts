/** `kubectl whence explain KIND/NAME`: whether an object is in force, what prevents that, and what it compiles to. */

import { objectOf } from '../../domain/strict-json.ts'
import type { Website } from '../../domain/catalog.ts'
import { CATALOG_LABEL, INDEX_KEY, indexName } from '../../domain/published/place.ts'
import { fromShards } from '../../domain/published/shards.ts'
import { CONDITION_REASONS, type Condition, conditionsIn } from '../../domain/resources/conditions.ts'
import { RESOURCE_GROUP } from '../../domain/resources/resources.ts'
import { printable } from '../../common/printable.ts'
import { wholeCatalog } from '../../runtime/catalog/whole-catalog.ts'
import { print } from '../terminal/output.ts'
import {
  type ClusterChoice,
  type ClusterObject,
  getJson,
  kubectl,
  oneNamespace,
  withoutNamespace,
  isClusterObject,
  isClusterList,
} from './run-kubectl.ts'

/** Conditions for which False is the good state. */
const GOOD_WHEN_FALSE: ReadonlySet<string> = new Set(['Reconciling', 'Stalled', 'Warning'])
const MAX_REFERENCES = 50

/**
 * Prints the explanation, and resolves with 0 if the object is in force, otherwise 1. `target` is `website/NAME`, as
 * for kubectl.
 */
export async function explain(choice: ClusterChoice, target: string): Promise<number> {
  const [kind = '', name = ''] = target.split('/')
  if (name === '') throw new Error('name an object: kubectl whence explain website/NAME')
  const full = kind.includes('.') ? kind : `${kind}.${RESOURCE_GROUP}`
  const found = await getJson(choice, [full, name], isClusterObject)
  if (found.value === null) throw new Error(found.why)
  const object = found.value
  const conditions = statedConditions(object)
  const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
  const lines = [
    `${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}: ${isReady ? 'in force' : 'not in force'}`,
    ...stateLines(object, conditions),
    ...(await referenceLines(choice, object)),
    ...(object.kind === 'Website' ? await compiledLines(choice, object) : []),
  ]
  print(lines.map((line) => `${printable(line)}\n`).join(''))
  return isReady ? 0 : 1
}

function statedConditions({ status }: ClusterObject): readonly Condition[] {
  return conditionsIn(status)
}

/** What is wrong, with its fix; what is right is not mentioned. */
function stateLines({ metadata, status }: ClusterObject, conditions: readonly Condition[]): readonly string[] {
  if (conditions.length === 0)
    return ['  No operator has processed it: does one run, and does it watch this namespace?']
  const isStale = status?.['observedGeneration'] !== metadata.generation
  const bad = conditions.filter(({ type, status: value }) => (value === 'True') === GOOD_WHEN_FALSE.has(type))
  return [
    ...(isStale ? ['  The operator has not processed the latest change yet.'] : []),
    ...bad.flatMap(({ type, status: value, reason, message }) => [
      `  ${type} is ${value} (${reason}): ${message}`,
      ...fixOf(reason).map((fix) => `    ${fix}`),
    ]),
    ...['snippet', 'hookCommand'].flatMap((field) => {
      const text = status?.[field]
      return typeof text === 'string' ? [`  ${field}: ${text}`] : []
    }),
  ]
}

function fixOf(reason: string): readonly string[] {
  const fix = CONDITION_REASONS[reason]?.fix
  return fix === undefined ? [] : [fix]
}

interface ShownReference {
  readonly kind: string
  readonly name: string
  /** Null: the namespace of the object with the reference. */
  readonly namespace: string | null
}

const KIND_OF_FIELD: Readonly<Record<string, string>> = { organizationRef: 'organization', websiteRef: 'website' }

/** Every `xxxRef` of a spec; those that are not of our own kinds are Secrets. */
function shownReferences(value: unknown): readonly ShownReference[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([field, inner]: [string, unknown]): readonly ShownReference[] => {
    const { name, namespace } = objectOf(inner)
    if (!field.endsWith('Ref') || typeof name !== 'string') return shownReferences(inner)
    const elsewhere = typeof namespace === 'string' ? namespace : null
    return [{ kind: KIND_OF_FIELD[field] ?? 'secret', name, namespace: elsewhere }]
  })
}

function inNamespace(choice: ClusterChoice, namespace: string): ClusterChoice {
  const { options, ...rest } = withoutNamespace(choice)
  return { ...rest, options: [...options, '--namespace', namespace] }
}

async function referenceLines(choice: ClusterChoice, { spec }: ClusterObject): Promise<readonly string[]> {
  const references = shownReferences(spec).slice(0, MAX_REFERENCES)
  return Promise.all(
    references.map(async ({ kind, name, namespace }) => {
      const place = namespace === null ? choice : inNamespace(choice, namespace)
      const type = kind === 'secret' ? kind : `${kind}.${RESOURCE_GROUP}`
      // Only the name of a Secret is requested.
      const { code, stderr } = await kubectl(place, ['get', type, name, '-o', 'name'])
      const state = code === 0 ? 'there' : /\(NotFound\)/.test(stderr) ? 'missing' : 'hidden from your rights'
      return `  refers to ${kind} ${namespace === null ? '' : `${namespace}/`}${name}: ${state}`
    }),
  )
}

/** What the pods use, from the catalog itself. */
async function compiledLines(
  choice: ClusterChoice,
  { metadata, spec, status }: ClusterObject,
): Promise<readonly string[]> {
  const place = choice.releaseNamespace === null ? ['--all-namespaces'] : ['--namespace', choice.releaseNamespace]
  const asked = ['configmaps', '--selector', CATALOG_LABEL, ...place]
  const found = await getJson(withoutNamespace(choice), asked, isClusterList)
  if (found.value === null) return [`  compiled: your rights do not allow reading the catalog (${found.why})`]
  oneNamespace(found.value.items, 'catalogs')
  const id = [status?.['id'], spec?.['id']].find((each) => typeof each === 'string') ?? metadata.name
  const website = websitesIn(found.value.items).find((each) => each.id === id)
  if (website === undefined) return [`  compiled: no catalog holds ${id}`]
  return [
    `  compiled: website ${website.id} of organisation ${website.organization.id} (${website.organization.plan})`,
    `    origins: ${[...website.origins].join(', ')}`,
    `    pages: ${website.pages.map((page) => page.id).join(', ') || 'none'}; hook: ${website.hookScan}; kept ${website.retentionDays} days`,
    `    landings across origins: ${website.crossOrigin}; ignored referrers: ${website.ignoredReferrers.join(', ') || 'none'}`,
    ...website.destinations.map(
      ({ id: destination, provider, mode, eventTypes, reconstructionWindowHours: hours }) =>
        `    destination ${destination}: ${provider}, ${mode}, ${eventTypes.join(', ')}, window ${hours} h`,
    ),
  ]
}

/** From every catalog in these ConfigMaps; incomplete ones are left out, as pods do. */
function websitesIn(maps: readonly ClusterObject[]): readonly Website[] {
  const byName = new Map(maps.map((map) => [`${map.metadata.namespace}/${map.metadata.name}`, map]))
  return maps.flatMap((map): readonly Website[] => {
    const text = map.data?.[INDEX_KEY]
    const namespace = map.metadata.namespace ?? ''
    const place = { namespace, name: map.metadata.name.slice(0, -indexName({ namespace, name: '' }).length) }
    if (text === undefined) return []
    const whole = wholeCatalog(place, (name) => byName.get(`${namespace}/${name}`))
    return whole === null ? [] : [...fromShards(whole.index.version, whole.texts).websites.values()]
  })
}
