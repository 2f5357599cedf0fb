/** Reads the values of a destination as people paste them. */

import { hasInvisible, withoutEdges } from '../schema/pasted-text.ts'
import { isObject } from '../strict-json.ts'
import type { GuideField } from '../providers/guide.ts'
import { PROVIDER_DESCRIPTORS, type ProviderId } from '../providers/index.ts'

/** A value as it was meant, or what is wrong with it: completes a sentence that begins with the label. */
export type ReadValue = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly why: string }

/** Without what came along when it was pasted: space around it, quotes, hyphens of a number. */
export function readPasted(provider: ProviderId, field: GuideField, pasted: string): ReadValue {
  const bare = withoutEdges(pasted).replace(/^(["'`])(.*)\1$/s, '$2')
  const value = field.meant?.(bare) ?? bare
  if (value === '') return field.isOptional === true ? { ok: true, value } : { ok: false, why: 'is missing' }
  const why = field.isSecret ? faultOfSecret(field, value) : faultOfSetting(provider, field, value)
  return why === null ? { ok: true, value } : { ok: false, why }
}

/** By the pattern and length of the block's schema, without a validator: browsers run this. */
function faultOfSetting(provider: ProviderId, { name }: GuideField, value: string): string | null {
  const { pattern, patternMeaning, maxLength } = PROVIDER_DESCRIPTORS[provider].block.schema.properties?.[name] ?? {}
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) return patternMeaning ?? 'does not fit'
  return maxLength !== undefined && value.length > maxLength ? `must have at most ${maxLength} characters` : null
}

function faultOfSecret({ isLong }: GuideField, value: string): string | null {
  if (isLong === true) return isKeyFile(value) ? null : 'must be the whole JSON file, with client_email and private_key'
  if (hasInvisible(value) || value.includes(' ')) return 'must not have spaces or line breaks in it'
  return null
}

function isKeyFile(text: string): boolean {
  try {
    const file: unknown = JSON.parse(text)
    return isObject(file) && [file['client_email'], file['private_key']].every((each) => typeof each === 'string')
  } catch {
    return false
  }
}
