/** What is kept of each object of a cluster: no more than lists show, and which managers own fields of its spec. */

import { listOf, isText } from '../../domain/guards.ts'
import { objectOf } from '../../domain/strict-json.ts'
import { conditionsIn } from '../../domain/resources/conditions.ts'
import {
  BILLING_MANAGER,
  isByHand,
  ownsSpec,
  DASHBOARD_MANAGER,
  managedFieldsOf,
} from '../../domain/resources/field-owners.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import { stripped, type KubeObject } from '../../runtime/kube/objects.ts'
import type { ListedObject, ObjectOrigin } from './inventory.ts'

const ARGO_CD = 'argocd.argoproj.io/tracking-id'
const FLUX = 'kustomize.toolkit.fluxcd.io/name'
const HELM = 'app.kubernetes.io/managed-by'

/** As the reflector does, but keeps the names of those who own fields of the spec. */
export function withManagers(object: KubeObject): KubeObject {
  const managed = managedFieldsOf(object.metadata)
  const managers = [...new Set(managed.filter(ownsSpec).map(({ manager = '' }) => manager))]
  const kept = stripped(object)
  return { ...kept, metadata: { ...kept.metadata, managers } }
}

export function listedObject(kind: ResourceKind, object: KubeObject): ListedObject {
  const { name, namespace = '', uid = '', generation = 0, creationTimestamp: createdAt = '' } = object.metadata
  const conditions = conditionsIn(object['status'])
  return {
    kind,
    namespace,
    name,
    createdAt,
    conditions,
    spec: objectOf(object['spec']),
    version: objectVersion(uid, generation),
    judgedVersion: objectVersion(uid, Math.min(...conditions.map((each) => each.observedGeneration ?? 0))),
    origin: managerOf(object),
  }
}

/** The generation counts changes of the spec alone: the operator's statuses change no version. */
export function objectVersion(uid: string, generation: number): string {
  return `${uid.slice(0, 8)}-${generation}`
}

const isListOfTexts = listOf(isText)

/** A tool that would set its fields again counts before what people did, here or with kubectl. */
function managerOf({ metadata }: KubeObject): ObjectOrigin {
  const { annotations = {}, labels = {} } = metadata
  const managers = isListOfTexts(metadata['managers']) ? metadata['managers'] : []
  const own: readonly string[] = [DASHBOARD_MANAGER, BILLING_MANAGER]
  const tool = managers.find((manager) => !own.includes(manager) && !isByHand(manager))
  if (tool !== undefined) return { by: 'gitops', manager: tool }
  if (annotations[ARGO_CD] !== undefined) return { by: 'gitops', manager: 'argocd' }
  if (labels[FLUX] !== undefined) return { by: 'gitops', manager: 'flux' }
  if (labels[HELM] === 'Helm') return { by: 'gitops', manager: 'helm' }
  if (managers.includes(DASHBOARD_MANAGER)) return { by: 'dashboard', manager: DASHBOARD_MANAGER }
  return { by: 'kubectl', manager: managers[0] ?? 'kubectl' }
}
