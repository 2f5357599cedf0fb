/** Compares the definitions in the cluster with this program's, by the digest in each. */

import { requestObject } from '../../runtime/kube/objects.ts'
import { customResourceDefinition, RESOURCE_PLURALS, SCHEMA_HASH_ANNOTATION } from '../../domain/resources/crd.ts'
import type { Sha256Hex } from '../../domain/origin.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import { RESOURCE_GROUP, RESOURCE_KINDS } from '../../domain/resources/resources.ts'
import type { KubeRequests } from '../../runtime/kube/client.ts'
import { KubeError } from '../../runtime/kube/client.ts'
import type { Logger } from '../../runtime/logger.ts'
import { memberOf, textOf } from '../../domain/strict-json.ts'

const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'

interface DefinitionCheck {
  /** Kinds whose definition in the cluster differed from this program's at the last comparison. */
  readonly differing: () => readonly ResourceKind[]
  /** If the API server refuses to answer, none counts as differing. */
  readonly compare: () => Promise<void>
}

interface DefinitionCheckOptions {
  readonly client: KubeRequests
  /** Watched by the operator; empty: all. */
  readonly namespaces: readonly string[]
  readonly sha256Hex: Sha256Hex
  readonly logger: Logger
  /** Called with the kinds that differ, if they are others than before. */
  readonly onChange: (kinds: readonly ResourceKind[]) => void
}

export function createDefinitionCheck(options: DefinitionCheckOptions): DefinitionCheck {
  const { client, namespaces, sha256Hex, logger, onChange } = options
  let differing: readonly ResourceKind[] = []
  return {
    differing: () => differing,
    compare: async () => {
      // An installation for one namespace has no rights beyond it.
      if (namespaces.length === 1) return
      const found = (await differingDefinitions(client, sha256Hex)) ?? []
      if (found.join() === differing.join()) return
      differing = found
      onChange(found)
      if (found.length > 0) logger.warn({ kinds: found }, 'definitions in the cluster are of another version')
    },
  }
}

/**
 * Kinds whose definition differs from this program's; null if the API server refuses to answer, which is no fault: the
 * right to read definitions goes beyond namespaces.
 */
async function differingDefinitions(
  client: KubeRequests,
  sha256Hex: Sha256Hex,
): Promise<readonly ResourceKind[] | null> {
  try {
    const found = await Promise.all(
      RESOURCE_KINDS.map(async (kind) => ((await hashOf(client, kind)) === ownHash(kind, sha256Hex) ? [] : [kind])),
    )
    return found.flat()
  } catch (error) {
    if (error instanceof KubeError) return null
    throw error
  }
}

async function hashOf(client: KubeRequests, kind: ResourceKind): Promise<string> {
  const name = `${RESOURCE_PLURALS[kind]}.${RESOURCE_GROUP}`
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`
  const { metadata } = await requestObject(client, { method: 'GET', path, accept: METADATA })
  return metadata.annotations?.[SCHEMA_HASH_ANNOTATION] ?? ''
}

function ownHash(kind: ResourceKind, sha256Hex: Sha256Hex): string {
  const { metadata } = customResourceDefinition(kind, sha256Hex)
  return textOf(memberOf(memberOf(metadata, 'annotations'), SCHEMA_HASH_ANNOTATION))
}
