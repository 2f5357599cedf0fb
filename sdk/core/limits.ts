/** The few limits of the service that the SDK obeys, and what providers read and take; the build bundles these values, not the whole tables. */

import { LIMITS } from '../../domain/limits.ts'
import { PROVIDER_DESCRIPTORS, PROVIDER_IDS } from '../../domain/providers/index.ts'

/** Longest prefix that a provider puts before a click ID to form its identifier. */
const CLICK_PREFIX_CHARS = 24

export const BODY_BYTES = LIMITS.bodyBytes
export const MARKER_BYTES = LIMITS.markerBytes
export const UTM_CHARS = LIMITS.utmChars
export const COOKIE_CHARS = LIMITS.identifierChars
export const CLICK_ID_CHARS = LIMITS.identifierChars - CLICK_PREFIX_CHARS
export const CUSTOM_ADAPTERS = LIMITS.customAdapters
export const CUSTOM_FIELDS = LIMITS.customFields
export const CUSTOM_VALUE_CHARS = LIMITS.customValueChars
export const COMMAND_CHARS = LIMITS.handoffCommandChars
/** Of `_whence` in an address, its name included. */
export const CARRIED_BYTES = LIMITS.carriedBytes
export const CARRIED_LIFETIME_MS = LIMITS.carriedLifetimeMs
export const CLICK_NAME_CHARS = LIMITS.clickNameChars
export const SITTING_CHARS = LIMITS.sittingChars
/** The next page view after such a pause begins another visit of figures. */
export const SITTING_PAUSE_MS = LIMITS.sittingPauseMs
export const SOURCE_LIFETIME_MS = LIMITS.receiptLifetimeMs
/** The providers with a reader of their own. GA4 is read by the recorder. */
export const READ_PROVIDERS = PROVIDER_IDS.filter((id) => id !== 'ga4')
/** The providers of click identifiers, by the parameter of an address. */
export const CLICK_PROVIDERS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(PROVIDER_DESCRIPTORS).flatMap(({ id, clickParameters }) => clickParameters.map((name) => [name, id])),
)
