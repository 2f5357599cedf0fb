/** Turns refusals of the API server into outcomes of a write. */

import { KubeError } from '../../runtime/kube/client.ts'
import type { WriteOutcome } from './writer.ts'

const NOT_FOUND = 404
const CONFLICT = 409
const INVALID = 422

export const VERSION_GONE: WriteOutcome = { kind: 'conflict' }

/** @throws everything that is not a refusal of this object, such as an unreachable server */
export function outcomeOfError(error: unknown): WriteOutcome {
  if (!(error instanceof KubeError)) throw error
  const { status, message } = error
  if (status === CONFLICT) return fieldConflict(message) ?? VERSION_GONE
  if (status === NOT_FOUND) return VERSION_GONE
  if (status !== INVALID) throw error
  return { kind: 'refused', reason: 'InvalidField', ...faultIn(message) }
}

/** `conflict with "argocd-controller": .spec.role`, or a list below the first line. */
function fieldConflict(message: string): WriteOutcome | null {
  const [, manager, field] = /conflicts? with "([^"]+)"[^.]*?(\.[^\s,]+)/.exec(message) ?? []
  return manager === undefined || field === undefined
    ? null
    : { kind: 'managed_elsewhere', manager, field: fieldPointer(field) }
}

/** `Website.whence.dev "x" is invalid: spec.primaryOrigin: Invalid value: "string": must be an origin`. */
function faultIn(message: string): { readonly field: string; readonly message: string } {
  const [, path = '', why = message] = / is invalid: \[?([A-Za-z][\w.[\]]*): (.*)$/s.exec(message) ?? []
  const words = why.replace(
    /^(Invalid value|Required value|Unsupported value|Too long|Too many|Forbidden): ("[^"]*": )?/,
    '',
  )
  return { field: fieldPointer(`.${path}`), message: words }
}

function fieldPointer(path: string): string {
  return path
    .replaceAll(/\[(\d+)\]/g, '.$1')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll('.', '/')
    .replace(/\/$/, '')
}
