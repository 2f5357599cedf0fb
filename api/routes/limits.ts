/** `GET /api/limits`: plans, prices, rates and service limits, all from the one table. */

import { LIMITS, NOT_BUILT, PLAN_LIMITS, PUBLIC_LIMITS, RATE_RULES } from '../../domain/limits.ts'
import { PLANS } from '../../domain/model.ts'
import type { AnswerNamed } from '../openapi/schemas.ts'
import { staticFile, type StaticFile } from '../static-files.ts'

export function limitsFile(prices: Readonly<Record<string, unknown>> | null): StaticFile {
  return staticFile({
    type: 'application/json; charset=utf-8',
    content: JSON.stringify(limitsBody(prices)),
    cache: `public, max-age=${LIMITS.limitsCacheS}`,
    isShared: true,
  })
}

/** Field names keep their units (`...Bytes`, `...Ms`, `...Chars`). Prices are null if the operator set none. `notBuilt` names what is not in
 * force yet. */
function limitsBody(prices: Readonly<Record<string, unknown>> | null): AnswerNamed<'Limits'> {
  return {
    plans: PLAN_LIMITS,
    prices: Object.fromEntries(PLANS.map((plan) => [plan, prices?.[plan] ?? null])),
    rates: RATE_RULES,
    service: PUBLIC_LIMITS,
    notBuilt: NOT_BUILT,
  }
}
