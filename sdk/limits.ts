/** The few limits of the service that the SDK obeys; the build bundles their values, not the whole table. */

import { LIMITS } from '../domain/limits.ts'

export const BODY_BYTES = LIMITS.bodyBytes
export const MARKER_BYTES = LIMITS.markerBytes
export const URL_CHARS = LIMITS.urlChars
export const UTM_CHARS = LIMITS.utmChars
export const IDENTIFIER_CHARS = LIMITS.identifierChars
export const CLIENT_HINT_CHARS = LIMITS.clientHintChars
export const SESSION_ATTRIBUTES_CHARS = LIMITS.sessionAttributesChars
export const MEASUREMENT_IDS = LIMITS.measurementIdsPerVisit
export const CUSTOM_ADAPTERS = LIMITS.customAdapters
export const CUSTOM_FIELDS = LIMITS.customFields
export const CUSTOM_VALUE_CHARS = LIMITS.customValueChars
export const COMMAND_CHARS = LIMITS.handoffCommandChars
export const SOURCE_LIFETIME_MS = LIMITS.receiptLifetimeMs
