/** Checks of what is stored of an install as JSON: in the columns of facts, and in the hot state. */

import { isFlag, isNumber, isText, listOf, isOneOf, orAbsent, orNull, shapeOf } from '../guards.ts'
import {
  EVENT_TYPES,
  RECEIPT_VERDICTS,
  RESOLUTIONS,
  SELECTION_POLICIES,
  SESSION_MODES,
  VISIT_POLICIES,
  type CandidateVerdict,
  type CodingAgent,
  type DeliveryPlan,
  type Install,
  type InstallAnswer,
  type OpenCandidate,
} from '../model.ts'

/**
 * A name of a list to which a later release may have added: what it wrote is whole all the same. Who reads such a name has a case for those
 * that it does not know; a delivery of an unknown provider ends as `provider_unknown`.
 */
function isNameOfList<Name extends string>(value: unknown): value is Name {
  return isText(value)
}

export const areVerdicts = listOf(
  shapeOf<CandidateVerdict>({
    visitId: orNull(isText),
    issuedAtMs: orNull(isNumber),
    verdict: isOneOf(RECEIPT_VERDICTS),
  }),
)

export const areDeliveryPlans = listOf(
  shapeOf<DeliveryPlan>({
    destination: isText,
    provider: isNameOfList,
    status: isOneOf(['pending', 'skipped']),
    sessionMode: isOneOf(SESSION_MODES),
    reason: isNameOfList,
  }),
)

export const isInstallAnswer = shapeOf<InstallAnswer>({
  ok: isOneOf([true]),
  event_id: isText,
  duplicate: isFlag,
  resolution: isOneOf(RESOLUTIONS),
  candidate_count: isNumber,
  selection_policy: isOneOf(SELECTION_POLICIES),
  ga: shapeOf<InstallAnswer['ga']>({
    status: isText,
    deliveries: listOf(
      shapeOf<InstallAnswer['ga']['deliveries'][number]>({
        destination: isText,
        status: isText,
        session_mode: isOneOf(SESSION_MODES),
      }),
    ),
  }),
  recorded: orAbsent(isOneOf([false])),
})

export const isInstall = shapeOf<Install>({
  website: isText,
  organization: isText,
  eventId: isText,
  installationId: isText,
  eventType: isOneOf(EVENT_TYPES),
  receivedAtMs: isNumber,
  installPath: orNull(isText),
  platform: isText,
  arch: isText,
  browsers: listOf(isText),
  defaultBrowser: isText,
  timezone: isText,
  language: isText,
  productVersion: isText,
  place: isText,
  isCi: isFlag,
  isContainer: isFlag,
  isTest: isFlag,
  agent: orAbsent(isNameOfList<CodingAgent>),
  resolution: isOneOf(RESOLUTIONS),
  selectionPolicy: isOneOf(SELECTION_POLICIES),
  candidateCount: isNumber,
  visitId: orNull(isText),
  visitIssuedAtMs: orNull(isNumber),
  gpc: isFlag,
  verdicts: areVerdicts,
  deliveries: areDeliveryPlans,
  catalogNumber: isNumber,
  answer: isInstallAnswer,
  openCandidates: orAbsent(
    listOf(shapeOf<OpenCandidate>({ visitId: isText, issuedAtMs: isNumber, gpc: isFlag, isDecided: isFlag })),
  ),
  visitPolicy: orAbsent(isOneOf(VISIT_POLICIES)),
})
