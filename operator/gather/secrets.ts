/** Reads the values of referenced Secrets, and of no others: the rest is known only by name and version. */

import { inLanes } from '../../common/in-lanes.ts'
import { BUCKET_MEMBERS } from '../../domain/catalog/compile-log-stream.ts'
import { objectKey } from '../../domain/catalog/objects.ts'
import { LIMITS } from '../../domain/limits.ts'
import { PROVIDER_DESCRIPTORS, PROVIDER_IDS } from '../../domain/providers/index.ts'
import { objectOf } from '../../domain/strict-json.ts'
import type { CatalogPlace } from '../../domain/published/place.ts'
import { secretReferences } from '../../domain/resources/secret-use.ts'
import type { KubeClient } from '../../runtime/kube/client.ts'
import { KubeError } from '../../runtime/kube/client.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { kubeKey, placeOfKey, stripped, requestObject } from '../../runtime/kube/objects.ts'
import { isCut } from './copies.ts'
import type { Resources } from './ownership.ts'
import type { RoomNews } from './room.ts'
import type { WatchedSecrets } from './watched-secrets.ts'
import { presentOf } from '../../domain/typed-keys.ts'

interface SecretValues {
  /**
   * The existing Secrets with these keys (`namespace/name`), with the values of these members; of a Secret that was just changed maybe
   * those from before.
   */
  readonly read: (wanted: ReferredSecrets) => Promise<ReadSecrets>
  /** What was cut is read again in the next pass. */
  readonly readCutAgain: () => void
}

/** Names of the members that are needed, by key of their Secret. */
type ReferredSecrets = ReadonlyMap<string, ReadonlySet<string>>

interface ReadSecrets {
  readonly secrets: readonly KubeObject[]
  /** Keys of Secrets that this pass must do without, since their namespace has so many to read. */
  readonly unread: ReadonlySet<string>
  /** Whether another pass has more to read. */
  readonly isMore: boolean
}

interface SecretOptions {
  readonly client: KubeClient
  /** A value is read again only after its version has changed. */
  readonly watched: WatchedSecrets
  readonly room: RoomNews
}

const AT_ONCE = 16

/** A Secret that may be listed but not read keeps its last known value: its namespace must not stop the others. */
export function createSecretValues({ client, watched, room }: SecretOptions): SecretValues {
  const { version } = watched
  const known = new Map<string, KubeObject>()
  /** The Secrets that are referred to. True: the last read found none, or was refused. */
  const expected = new Map<string, boolean>()
  const keep = (key: string, secret: KubeObject | null): void => {
    if (secret === null) known.delete(key)
    else known.set(key, secret)
    room.changed('Secret', known, key)
  }
  const expectOnly = (wanted: ReferredSecrets): void => {
    for (const key of expected.keys()) {
      if (wanted.has(key)) continue
      watched.forget(key)
      expected.delete(key)
    }
    for (const key of wanted.keys()) {
      if (expected.has(key)) continue
      watched.expect(key)
      expected.set(key, false)
    }
  }
  /** Until something is heard of it. */
  const isKnownAbsent = (key: string): boolean =>
    expected.get(key) === true && !known.has(key) && version(key)?.metadata.resourceVersion === ''
  return {
    read: async (wanted) => {
      expectOnly(wanted)
      for (const key of known.keys()) if (!wanted.has(key)) keep(key, null)
      const due = [...wanted].filter(
        ([key, members]) => !isKnownAbsent(key) && isOutdated(known.get(key), version(key), members),
      )
      const now = secretsInTurns(due)
      const reads = now.map(([key, members]) => async () => {
        const secret = version(key) === undefined ? null : await fetchSecret(client, key)
        expected.set(key, secret === null || secret === 'forbidden')
        if (secret !== 'forbidden') keep(key, secret === null ? null : secretCopy(secret, members))
      })
      await inLanes(reads, AT_ONCE)
      const read = new Set(now.map(([key]) => key))
      const unread = due.flatMap(([key]) => (read.has(key) || known.has(key) ? [] : [key]))
      return { secrets: [...known.values()], unread: new Set(unread), isMore: now.length < due.length }
    },
    readCutAgain: () => {
      for (const [key, secret] of known) if (isCut(secret)) known.delete(key)
    },
  }
}

type DueSecret = readonly [string, ReadonlySet<string>]

/** No more of one namespace than a pass waits for, and every namespace's first one before another's second. */
function secretsInTurns(due: readonly DueSecret[]): readonly DueSecret[] {
  const turns = new Map<string, number>()
  return due
    .map((each) => {
      const namespace = each[0].slice(0, each[0].indexOf('/'))
      const turn = turns.get(namespace) ?? 0
      turns.set(namespace, turn + 1)
      return { each, turn }
    })
    .filter(({ turn }) => turn < LIMITS.secretReadsPerPass)
    .sort((a, b) => a.turn - b.turn)
    .map(({ each }) => each)
}

const MEMBERS = 'members'

/** Of these members alone. A value that is too long for a credential is replaced by a short one that is too long as well. */
function secretCopy({ metadata, type, data }: KubeObject, members: ReadonlySet<string>): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp, labels } = metadata
  const values = [...members].flatMap((member) => {
    const value = objectOf(data)[member]
    return typeof value === 'string' ? [[member, value.length > TOO_LONG.length ? TOO_LONG : value] as const] : []
  })
  const kept = presentOf({ namespace, uid, resourceVersion, creationTimestamp, labels })
  return {
    metadata: { name, ...kept, [MEMBERS]: [...members] },
    ...(type === undefined ? {} : { type }),
    data: Object.fromEntries(values),
  }
}

/** Base64 of one byte more than a credential may have. */
const TOO_LONG = Buffer.alloc(LIMITS.credentialBytes + 1, 'x').toString('base64')

/** The Secrets that these objects refer to, even if the objects are faulty. */
export function referredSecrets(objects: readonly KubeObject[]): ReferredSecrets {
  const referred = new Map<string, Set<string>>()
  for (const { key, members } of objects.flatMap(referencedSecrets)) {
    const known = referred.get(key) ?? new Set()
    referred.set(key, known)
    for (const member of members) known.add(member)
  }
  return referred
}

/** Separates the objects that refer to one of these Secrets: they stay as they are until it is read. */
export function withoutUnread(
  resources: Resources,
  unread: ReadonlySet<string>,
): { readonly resources: Resources; readonly waiting: ReadonlySet<string> } {
  const waiting = new Set<string>()
  if (unread.size === 0) return { resources, waiting }
  const without = (kind: 'Destination' | 'LogStream' | 'Webhook') =>
    resources[kind].filter((object) => {
      if (!referencedSecrets(object).some(({ key }) => unread.has(key))) return true
      waiting.add(objectKey(kind, object.metadata.namespace ?? '', object.metadata.name))
      return false
    })
  const running = {
    Destination: without('Destination'),
    LogStream: without('LogStream'),
    Webhook: without('Webhook'),
  }
  return { resources: { ...resources, ...running }, waiting }
}

interface NeededMembers {
  readonly key: string
  readonly members: readonly string[]
}

/** Objects are never changed in place, and most of them are the same as before. */
const REFERRED = new WeakMap<KubeObject, readonly NeededMembers[]>()

function referencedSecrets(object: KubeObject): readonly NeededMembers[] {
  const known = REFERRED.get(object) ?? secretsIn(object)
  REFERRED.set(object, known)
  return known
}

function secretsIn({ metadata, spec }: KubeObject): readonly NeededMembers[] {
  return secretReferences(spec).map(({ name, member }) => {
    return { key: `${metadata.namespace ?? ''}/${name}`, members: member === null ? WHOLE_SETS : [member] }
  })
}

/** Members that a reference to a whole Secret may need. */
const WHOLE_SETS: readonly string[] = [
  ...PROVIDER_IDS.flatMap((id) => {
    const { secret } = PROVIDER_DESCRIPTORS[id].block
    return 'sets' in secret ? secret.sets.flatMap((set) => Object.keys(set)) : []
  }),
  ...BUCKET_MEMBERS,
]

function isOutdated(known: KubeObject | undefined, now: KubeObject | undefined, members: ReadonlySet<string>): boolean {
  const isUnheard = known !== undefined && now?.metadata.resourceVersion === ''
  if (!isUnheard && known?.metadata.resourceVersion !== now?.metadata.resourceVersion) return true
  const kept: unknown = known?.metadata[MEMBERS]
  return known !== undefined && [...members].some((member) => !Array.isArray(kept) || !kept.includes(member))
}

/** Reads the operator's own objects by name, as they are now; null if there is none. */
export function ownReader(client: KubeClient, { namespace }: CatalogPlace) {
  return async (plural: 'configmaps' | 'secrets', name: string): Promise<KubeObject | null> => {
    try {
      const path = `/api/v1/namespaces/${namespace}/${plural}/${name}`
      return stripped(await requestObject(client, { method: 'GET', path }))
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return null
      throw error
    }
  }
}

/** As it is now; null if there is none. */
export async function fetchSecret(client: KubeClient, key: string): Promise<KubeObject | 'forbidden' | null> {
  const { namespace, name } = placeOfKey(key)
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(name)}`
  try {
    const secret = stripped(await requestObject(client, { method: 'GET', path }))
    return kubeKey(secret) === key ? secret : null
  } catch (error) {
    // Deleted a moment ago; its event will arrive.
    if (error instanceof KubeError && error.status === 404) return null
    if (error instanceof KubeError && error.status === 403) return 'forbidden'
    throw error
  }
}
