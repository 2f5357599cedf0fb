/** What a list of Logs is narrowed to: from the query of a request to the parameters of SQL. */

import { LIMITS } from '../../domain/limits.ts'
import { referenceHash } from '../../domain/logs/references.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import type { JsonObject } from '../../domain/strict-json.ts'
import type { LogFilters } from '../../ports/facts/pages/logs.ts'

const text = (description: string, maxLength: number): JsonSchema => ({
  ...{ type: 'string', description, minLength: 1, maxLength },
})
const moment = (description: string): JsonSchema => ({ type: 'integer', description, minimum: 0 })

const STATUS_CLASSES = ['none', '2xx', '3xx', '4xx', '5xx'] as const
const REQUEST_KINDS = ['visit', 'activation', 'handoff', 'install', 'request'] as const
/** Of attempts at delivery. */
const ATTEMPT_KIND = 'delivery'
const MOST_REFERENCES = 5
const MOST_TEXT_CHARS = 256

export const WEBSITE_PARAMETER = text('One website instead of all.', LIMITS.websiteIdChars)

/** Of every list of Logs: page, tail and export. */
export const LOG_FILTER_SCHEMA = {
  website: WEBSITE_PARAMETER,
  direction: {
    ...{ type: 'string', description: 'Requests that came in, or attempts that went out; both if absent.' },
    enum: ['inbound', 'outbound'],
  },
  status: { type: 'string', description: 'Class of the status; `none`: no answer came.', enum: STATUS_CLASSES },
  code: text('Error code.', LIMITS.clientHintChars),
  path: text('Path of a request, or address of an attempt.', LIMITS.outboundUrlChars),
  kind: { type: 'string', description: 'What the line is about.', enum: [...REQUEST_KINDS, ATTEMPT_KIND] },
  origin: text('Origin of a request.', LIMITS.outboundUrlChars),
  reference: text(
    `IDs of an event, installation or visit, or what a receipt was turned into; up to ${MOST_REFERENCES} with commas.`,
    MOST_REFERENCES * (LIMITS.idChars.max + 1),
  ),
} as const satisfies Readonly<Record<string, JsonSchema>>

export const LOG_LIST_SCHEMA = {
  ...LOG_FILTER_SCHEMA,
  text: text('Part of a body, as it is written there.', MOST_TEXT_CHARS),
  since: moment('Unix ms, inclusive.'),
  until: moment('Unix ms, exclusive.'),
} as const satisfies Readonly<Record<string, JsonSchema>>

/** Filters of each direction; null: no line of it can fit. */
export interface DirectedFilters {
  readonly requests: LogFilters | null
  readonly attempts: LogFilters | null
}

/** `values` fit `LOG_LIST_SCHEMA`. */
export function directedFilters(values: JsonObject): DirectedFilters {
  const { direction, kind, origin } = values
  const wantsAttempts = direction !== 'inbound' && (kind === undefined || kind === ATTEMPT_KIND) && origin === undefined
  const wantsRequests = direction !== 'outbound' && kind !== ATTEMPT_KIND
  const references = typeof values['reference'] === 'string' ? values['reference'].split(',') : null
  const shared = { ...statusBounds(values['status']), ...picked(values, ['code', 'path', 'text']) }
  return {
    requests: wantsRequests
      ? {
          ...{ ...shared, ...picked(values, ['kind', 'origin']) },
          ...(references === null ? {} : { refs: references.slice(0, MOST_REFERENCES).map(referenceHash) }),
        }
      : null,
    attempts: wantsAttempts ? { ...shared, ...(references === null ? {} : { references }) } : null,
  }
}

function picked(values: JsonObject, names: readonly (keyof LogFilters)[]): LogFilters {
  return Object.fromEntries(names.flatMap((name) => (typeof values[name] === 'string' ? [[name, values[name]]] : [])))
}

function statusBounds(status: unknown): Pick<LogFilters, 'status_from' | 'status_to'> {
  if (typeof status !== 'string') return {}
  const hundreds = status === 'none' ? 0 : Number(status[0]) * 100
  return { status_from: hundreds, status_to: status === 'none' ? 0 : hundreds + 99 }
}
