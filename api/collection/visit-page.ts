/** Checks that a visit's page is the website's; only requests that record a visit have one. */

import { checkPage, type VisitPage } from '../../domain/collection/visit.ts'
import type { Refusal } from '../../domain/errors.ts'
import { sha256Hex } from '../../common/digest.ts'
import type { CheckedRequest } from './pipeline.ts'

/** A checked request that records a visit of this page. */
export interface VisitRequest extends CheckedRequest {
  readonly page: VisitPage
}

export function withPage(request: CheckedRequest): VisitRequest | Refusal {
  const { body, website, origin } = request
  const page = checkPage(body, { website, origin }, sha256Hex)
  return page.kind === 'refused' ? page : { ...request, page }
}
