/** Checks of what is stored of an install as JSON: in the columns of facts, and in the hot state. */

import { PROVIDER_IDS } from '../providers/index.ts'
import { isFlag, isNumber, isText, listOf, oneOf, orAbsent, orNull, shapeOf } from '../guards.ts'
import {
  CODING_AGENTS,
  EVENT_TYPES,
  RECEIPT_VERDICTS,
  RESOLUTIONS,
  SELECTION_POLICIES,
  SESSION_MODES,
  VISIT_POLICIES,
  type CandidateVerdict,
  type DeliveryPlan,
  type Install,
  type InstallAnswer,
  type OpenCandidate,
} from '../model.ts'
import { DELIVERY_REASONS } from '../reasons.ts'
import { keysOf } from '../typed-keys.ts'

export const areVerdicts = listOf(
  shapeOf<CandidateVerdict>({
    visitId: orNull(isText),
    issuedAtMs: orNull(isNumber),
    verdict: oneOf(RECEIPT_VERDICTS),
  }),
)

export const areDeliveryPlans = listOf(
  shapeOf<DeliveryPlan>({
    destination: isText,
    provider: oneOf(PROVIDER_IDS),
    status: oneOf(['pending', 'skipped']),
    sessionMode: oneOf(SESSION_MODES),
    reason: oneOf([...keysOf(DELIVERY_REASONS), '']),
  }),
)

export const isInstallAnswer = shapeOf<InstallAnswer>({
  ok: oneOf([true]),
  event_id: isText,
  duplicate: isFlag,
  resolution: oneOf(RESOLUTIONS),
  candidate_count: isNumber,
  selection_policy: oneOf(SELECTION_POLICIES),
  ga: shapeOf<InstallAnswer['ga']>({
    status: isText,
    deliveries: listOf(
      shapeOf<InstallAnswer['ga']['deliveries'][number]>({
        destination: isText,
        status: isText,
        session_mode: oneOf(SESSION_MODES),
      }),
    ),
  }),
  recorded: orAbsent(oneOf([false])),
})

export const isInstall = shapeOf<Install>({
  website: isText,
  organization: isText,
  eventId: isText,
  installationId: isText,
  eventType: oneOf(EVENT_TYPES),
  receivedAtMs: isNumber,
  installPath: orNull(isText),
  platform: isText,
  arch: isText,
  browsers: listOf(isText),
  defaultBrowser: isText,
  timezone: isText,
  language: isText,
  agent: orAbsent(oneOf(CODING_AGENTS)),
  resolution: oneOf(RESOLUTIONS),
  selectionPolicy: oneOf(SELECTION_POLICIES),
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
  visitPolicy: orAbsent(oneOf(VISIT_POLICIES)),
})
