/** Which coarse hints about the browser become part of a visit: the user-agent client hints and a few others. */

import { LIMITS } from '../limits.ts'
import { mapMember, type JsonObject } from '../strict-json.ts'

type HintSchema = Readonly<Record<string, unknown>>

const BRANDS_MAX = 16
const BRAND_CHARS_MAX = 64

const hint: HintSchema = { type: 'string', maxLength: LIMITS.clientHintChars }
const yesOrNo: HintSchema = { type: 'boolean' }
/** A list of `{ brand, version }`, or the header's text. */
const brands: HintSchema = {
  anyOf: [
    hint,
    {
      type: 'array',
      maxItems: BRANDS_MAX,
      items: {
        type: 'object',
        maxProperties: 4,
        propertyNames: { type: 'string', maxLength: BRAND_CHARS_MAX },
        additionalProperties: hint,
      },
    },
  ],
}

/** Names from `navigator.userAgentData.getHighEntropyValues`, and those that the contract adds. */
const HINTS: Readonly<Record<string, HintSchema>> = {
  brands,
  fullVersionList: brands,
  uaFullVersion: hint,
  mobile: yesOrNo,
  platform: hint,
  platformVersion: hint,
  model: hint,
  wow64: yesOrNo,
  formFactors: { anyOf: [hint, { type: 'array', maxItems: BRANDS_MAX, items: hint }] },
  architecture: hint,
  bitness: { anyOf: [hint, { type: 'number' }] },
  brave: yesOrNo,
  touch: { anyOf: [yesOrNo, { type: 'number' }] },
  timezone: hint,
  language: hint,
  /** A script drives the browser (`navigator.webdriver`). */
  automation: yesOrNo,
}

/** Schema of a visit's `client`; other members are ignored, as everywhere. */
export const CLIENT_SCHEMA: HintSchema = { type: 'object', properties: HINTS }

/** The known hints of `sent`, which has passed its schema, with every text cleaned. */
export function keepClient(sent: JsonObject, clean: (text: string) => string): JsonObject {
  const kept: Record<string, unknown> = {}
  for (const name in sent) if (Object.hasOwn(HINTS, name)) kept[name] = mapMember(sent[name], clean)
  return kept
}
