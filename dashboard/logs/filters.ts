/** Filters of a list of Logs: from the query of a request to the parameters of SQL. */

import { LIMITS } from '../../domain/limits.ts'
import { referenceHash } from '../../domain/logs/references.ts'
import { ATTEMPT_KIND, LOG_KINDS } from '../../domain/model.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import type { JsonObject } from '../../domain/strict-json.ts'
import type { LogPageFilters } from '../../ports/facts/pages/logs.ts'
import { PERIOD_PARAMETERS, textParameter, WEBSITE_PARAMETER } from '../http/parameters.ts'
import { columnFilters } from '../reads/column-filters.ts'

const STATUS_CLASSES = ['none', '2xx', '3xx', '4xx', '5xx'] as const
const MOST_REFERENCES = 5
const MOST_TEXT_CHARS = 256

/** Of every list of Logs: page, tail and export. */
export const LOG_FILTER_SCHEMA = {
  website: WEBSITE_PARAMETER,
  direction: {
    type: 'string',
    description: 'Requests that came in, or attempts that went out; both if absent.',
    enum: ['inbound', 'outbound'],
  },
  status: { type: 'string', description: 'Class of the status; `none`: no answer came.', enum: STATUS_CLASSES },
  code: textParameter('Error code.', LIMITS.clientHintChars),
  path: textParameter('Path of a request, or address of an attempt.', LIMITS.outboundUrlChars),
  kind: { type: 'string', description: 'What the line is about.', enum: LOG_KINDS },
  origin: textParameter('Origin of a request.', LIMITS.outboundUrlChars),
  reference: {
    ...textParameter(
      `IDs of an event, installation or visit, or what a receipt was turned into; up to ${MOST_REFERENCES} with commas. New attempts at delivery are followed by their event alone.`,
      MOST_REFERENCES * (LIMITS.idChars.max + 1),
    ),
    pattern: `^[^,]+(,[^,]+){0,${MOST_REFERENCES - 1}}$`,
    patternMeaning: `must be 1 to ${MOST_REFERENCES} IDs with commas between them`,
  },
} as const satisfies Readonly<Record<string, JsonSchema>>

export const LOG_LIST_SCHEMA = {
  ...LOG_FILTER_SCHEMA,
  text: textParameter('Part of a body, as it is written there.', MOST_TEXT_CHARS),
  ...PERIOD_PARAMETERS,
} as const satisfies Readonly<Record<string, JsonSchema>>

const LINE_COLUMNS = { code: 'code', path: 'path', text: 'text' } as const
const REQUEST_COLUMNS = { kind: 'kind', origin: 'origin' } as const

/** Filters of each direction; null: no line of it can fit. */
export interface DirectedFilters {
  readonly requests: LogPageFilters | null
  readonly attempts: LogPageFilters | null
}

/** `values` fit `LOG_LIST_SCHEMA`. */
export function directedFilters(values: JsonObject): DirectedFilters {
  const { direction, kind, origin } = values
  const wantsAttempts = direction !== 'inbound' && (kind === undefined || kind === ATTEMPT_KIND) && origin === undefined
  const wantsRequests = direction !== 'outbound' && kind !== ATTEMPT_KIND
  const references = typeof values['reference'] === 'string' ? values['reference'].split(',') : null
  const shared = { ...statusBounds(values['status']), ...columnFilters<LogPageFilters>(values, LINE_COLUMNS) }
  return {
    requests: wantsRequests
      ? {
          ...shared,
          ...columnFilters<LogPageFilters>(values, REQUEST_COLUMNS),
          ...(references === null ? {} : { refs: references.map(referenceHash) }),
        }
      : null,
    attempts: wantsAttempts ? { ...shared, ...(references === null ? {} : { references }) } : null,
  }
}

function statusBounds(status: unknown): Pick<LogPageFilters, 'status_from' | 'status_to'> {
  if (typeof status !== 'string') return {}
  const hundreds = status === 'none' ? 0 : Number(status[0]) * 100
  return { status_from: hundreds, status_to: status === 'none' ? 0 : hundreds + 99 }
}
