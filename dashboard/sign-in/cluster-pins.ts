/** Pins in the status of Member objects: they are deleted with the object, and a restored object is pinned again. */

import { memberOf } from '../../domain/strict-json.ts'
import { listOf, shapeOf, isText } from '../../domain/guards.ts'
import { RESOURCE_PLURALS } from '../../domain/resources/crd.ts'
import { RESOURCE_API_VERSION } from '../../domain/resources/resources.ts'
import { KubeError, type KubeClient } from '../../runtime/kube/client.ts'
import { type KubeObject, requestObject } from '../../runtime/kube/objects.ts'
import type { Account, PinnedMember, Pins } from './pins.ts'

const FIELD_MANAGER = 'whence-dashboard'
const MERGE_PATCH = 'application/merge-patch+json'
const CONFLICT = 409
const NOT_FOUND = 404
const TRIES = 5

export function clusterPins(client: KubeClient): Pins {
  return {
    read: async (member, issuer) => subjectIn(accountsOf(await findMember(client, member)), issuer),
    async pin(member, account) {
      for (let tries = 1; ; tries++) {
        const stored = await findMember(client, member)
        const accounts = accountsOf(stored)
        const pinned = subjectIn(accounts, account.issuer)
        if (stored === null || pinned !== null) return pinned ?? account.subject
        if (await wasWritten(write(client, member, { stored, accounts: [...accounts, account] }), tries))
          return account.subject
      }
    },
    forget: () => Promise.resolve(),
  }
}

async function findMember(client: KubeClient, member: PinnedMember): Promise<KubeObject | null> {
  try {
    return await requestObject(client, { method: 'GET', path: pathOf(member) })
  } catch (error) {
    if (error instanceof KubeError && error.status === NOT_FOUND) return null
    throw error
  }
}

interface StoredAccount {
  readonly issuer: string
  readonly subjectHash: string
}

const isListOfAccounts = listOf(shapeOf<StoredAccount>({ issuer: isText, subjectHash: isText }))

function accountsOf(object: KubeObject | null): readonly Account[] {
  const identities = memberOf(object?.['status'], 'identities') ?? []
  // Whoever signs in must not be taken for the first one because a pin cannot be read.
  if (!isListOfAccounts(identities)) throw new Error('the accounts in the status of a member cannot be read')
  return identities.map(({ issuer, subjectHash }) => ({ issuer, subject: subjectHash }))
}

function subjectIn(accounts: readonly Account[], issuer: string): string | null {
  return accounts.find((account) => account.issuer === issuer)?.subject ?? null
}

interface PinnedObject {
  readonly stored: KubeObject
  readonly accounts: readonly Account[]
}

function write(client: KubeClient, member: PinnedMember, { stored, accounts }: PinnedObject): Promise<unknown> {
  const identities = accounts.map(({ issuer, subject }) => ({ issuer, subjectHash: subject }))
  // With the version that was read, so that only one of two sign-ins at once counts.
  const body = { metadata: { resourceVersion: stored.metadata.resourceVersion }, status: { identities } }
  const path = `${pathOf(member)}/status?fieldManager=${FIELD_MANAGER}`
  return client.request({ method: 'PATCH', path, body, contentType: MERGE_PATCH })
}

/** False if another writer, such as the operator, changed the object at the same time. */
async function wasWritten(sent: Promise<unknown>, tries: number): Promise<boolean> {
  try {
    await sent
    return true
  } catch (error) {
    if (error instanceof KubeError && error.status === CONFLICT && tries < TRIES) return false
    throw error
  }
}

function pathOf({ namespace, name }: PinnedMember): string {
  const place = `namespaces/${encodeURIComponent(namespace)}/${RESOURCE_PLURALS.Member}`
  return `/apis/${RESOURCE_API_VERSION}/${place}/${encodeURIComponent(name)}`
}
