/** What to change in Git or with kubectl if the dashboard may not change it: ready to be copied. */

import type { JsonObject } from '../../domain/strict-json.ts'
import { shellQuoted } from '../../common/shell.ts'
import { RESOURCE_API_VERSION } from '../../domain/resources/resources.ts'
import { isSame } from '../../domain/resources/field-owners.ts'
import { manifestText } from '../../runtime/catalog/manifests.ts'
import type { StoredObject, WrittenObject } from './writer.ts'

export interface CopiedPatch {
  /** The object as it would be. */
  readonly yaml: string
  /** A line for a POSIX shell. */
  readonly kubectl: string
}

export function copiedPatch(stored: StoredObject, wanted: WrittenObject['spec']): CopiedPatch {
  const { kind, namespace, name } = stored
  const object = { apiVersion: RESOURCE_API_VERSION, kind, metadata: { name, namespace }, spec: wanted }
  const patch = JSON.stringify({ spec: mergePatch(stored.spec, wanted) })
  const group = RESOURCE_API_VERSION.split('/')[0] ?? ''
  const target = `${kind.toLowerCase()}.${group} ${name} --namespace ${namespace}`
  return {
    yaml: manifestText(object),
    kubectl: `kubectl patch ${target} --type merge --patch ${shellQuoted(patch)}`,
  }
}

/** JSON Merge Patch (RFC 7386): null removes a field. */
function mergePatch(before: JsonObject, after: JsonObject): JsonObject {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name))
  const changed = Object.entries(after).flatMap(([name, value]): [string, unknown][] => {
    const was = before[name]
    if (isSame(was, value)) return []
    return [[name, isFields(was) && isFields(value) ? mergePatch(was, value) : value]]
  })
  return Object.fromEntries<unknown>([...gone.map((name): [string, unknown] => [name, null]), ...changed])
}

function isFields(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
