/** `POST /v1/events`: an install is reported once, tied to its visit, and its deliveries are planned. */

import { setTimeout as wait } from 'node:timers/promises'
import { listIn } from '../../domain/guards.ts'
import { ownedWebsite } from '../../domain/catalog.ts'
import { planDeliveries } from '../../domain/delivery/deliveries.ts'
import { refuse, type Refusal } from '../../domain/errors.ts'
import {
  chooseInstallPath,
  duplicateAnswer,
  isOnlyCounted,
  matchedVisit,
  readInstallEvent,
  recordInstall,
  sentHandoff,
  unrecordedAnswer,
  type InstallEvent,
  type PathChoice,
} from '../../domain/collection/install.ts'
import { codingAgentOf } from '../../domain/collection/coding-agent.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Install, InstallAnswer } from '../../domain/model.ts'
import { eventHits } from '../../domain/collection/rate.ts'
import { COUNTED, resolve, type ResolutionResult } from '../../domain/collection/resolve.ts'
import { EVENT_SCHEMA } from '../../domain/collection/schemas.ts'
import { isTestMark } from '../../domain/collection/test-mark.ts'
import type { JsonObject } from '../../domain/strict-json.ts'
import type { Claim, ClaimOutcome, Installation } from '../../ports/hot-state/hot-state.ts'
import type { KnownAnswer } from '../../ports/hot-state/settled-record.ts'
import type { ApiDeps } from '../deps.ts'
import type { AcceptedAnswer, CheckedRequest, CollectionRoute, PipelineParts } from '../collection/pipeline.ts'
import { answerByNow } from '../collection/decided-answer.ts'
import { earlierReports } from '../collection/repeats/earlier-report.ts'
import { knownInstallation, lookUpInstallation } from '../collection/installations.ts'
import { encodeDecision, readKeptDecision, type KeptReading } from '../collection/kept-decision.ts'
import { cleanerOf, readEventToken, readReceipts, statesOf } from '../collection/receipts.ts'
import { countTrackedEvent, uncountOnFailure } from '../collection/usage.ts'
import { noteMatch } from '../collection/visit-matches.ts'
import { compileValidator } from '../http/validate.ts'

const OWNER_BYTES = 8
const POLL_MS = 20
/** A claim held for longer than this may be another try's by now: a process may stand still for seconds. */
const SURE_OF_CLAIM_MS = LIMITS.claimLeaseMs / 2

export function eventsRoute(parts: PipelineParts): CollectionRoute {
  const bySchema = compileValidator(EVENT_SCHEMA)
  const findEarlier = earlierReports(parts.deps)
  return {
    caller: 'native',
    validate: (body) => bySchema(body) ?? refuseBoth(body),
    check: (request) => request,
    hits: ({ website, exchange }) => eventHits(website.id, exchange.addressHash),
    handle: async (request) => {
      const { body, website, exchange } = request
      const event = readInstallEvent(body, cleanerOf(website, parts.deps, exchange.receivedAtMs))
      const claim = claimOf(request, event, parts.deps)
      const { outcome, waitedMs } = await claimInTime(claim, parts.deps)
      if (outcome.kind !== 'first') return answerForOther(outcome, { request, claim }, parts.deps)
      const { installation } = outcome
      const kept = readKeptDecision(outcome.kept)
      if (kept.kind === 'newer') return leaveToLaterRelease(claim, kept, parts.deps)
      const claimed = { claim, atMs: performance.now(), waitedMs }
      const earlier = outcome.isNew || kept.kind === 'decision' ? null : findEarlier(claim)
      return admitFirst({ request, event, claimed, installation, kept, earlier }, parts)
    },
  }
}

function refuseBoth(body: JsonObject): Refusal | null {
  const hasBoth = sentHandoff(body) !== null && listIn(body, 'receipts').length > 0
  return hasBoth ? refuse('handoff_excludes_receipts') : null
}

function claimOf(
  { website }: CheckedRequest,
  { eventId, installationId }: { readonly eventId: string; readonly installationId: string },
  deps: ApiDeps,
): Claim {
  const owner = deps.randomness.hex(OWNER_BYTES)
  return { ...ownedWebsite(website), eventId, installationId, owner }
}

/** A repeat that arrives while the first is being handled waits for its answer, at most a second. */
async function claimInTime(
  claim: Claim,
  deps: ApiDeps,
): Promise<{ readonly outcome: ClaimOutcome; readonly waitedMs: number }> {
  const beganMs = performance.now()
  let outcome = await deps.hotState.claimInstall(claim)
  while (outcome.kind === 'busy' && performance.now() - beganMs < LIMITS.claimWaitMs) {
    await wait(POLL_MS)
    outcome = await deps.hotState.claimInstall(claim)
  }
  return { outcome, waitedMs: performance.now() - beganMs }
}

interface ClaimingReport {
  readonly request: CheckedRequest
  readonly claim: Claim
}

/** Another try was first: its answer, or `503` while it is at work. */
async function answerForOther(
  outcome: Exclude<ClaimOutcome, { readonly kind: 'first' }>,
  { request, claim }: ClaimingReport,
  deps: ApiDeps,
): Promise<Refusal | AcceptedAnswer> {
  if (outcome.kind === 'busy') return refuse('unavailable')
  return answerInstall(request, duplicateAnswer(await answerByNow(outcome.answer, claim, deps)))
}

interface ClaimedEvent {
  readonly claim: Claim
  /** On the monotonic clock. */
  readonly atMs: number
  readonly waitedMs: number
}

interface FirstReport {
  readonly request: CheckedRequest
  readonly event: InstallEvent
  readonly claimed: ClaimedEvent
  readonly installation: Installation
  /** The decision of an earlier try that may have been stored. */
  readonly kept: ReadableDecision
  /** The answer to an earlier report that the hot state may have forgotten; null for none. */
  readonly earlier: Promise<KnownAnswer | null> | null
}

type ReadableDecision = Exclude<KeptReading, { readonly kind: 'newer' }>

/** A process of the release that decided answers one of the next tries: while releases change, both are there. */
async function leaveToLaterRelease(
  claim: Claim,
  { version }: Extract<KeptReading, { readonly kind: 'newer' }>,
  deps: ApiDeps,
): Promise<Refusal> {
  deps.logger.warn(
    { eventId: claim.eventId, version },
    'an event was decided by a later release, which has to answer it',
  )
  await deps.hotState.releaseInstall(claim)
  return refuse('unavailable')
}

/** The event is no new one: the hot state learns its answer again, and the caller gets it as a repeat does. */
async function answerForEarlier(
  earlier: KnownAnswer,
  { request, claim }: ClaimingReport,
  deps: ApiDeps,
): Promise<AcceptedAnswer> {
  if (earlier.isPending === true) await deps.hotState.settleInstall({ ...earlier, owner: claim.owner })
  else await deps.hotState.decideInstall({ ...earlier, isStored: true })
  return answerInstall(request, duplicateAnswer(await answerByNow(earlier.answer, claim, deps)))
}

/** Gather, decide, apply; a failure releases the claim, so that a retry need not wait for the lease. */
async function admitFirst(first: FirstReport, parts: PipelineParts): Promise<Refusal | AcceptedAnswer> {
  const { request, event, claimed } = first
  const { claim } = claimed
  const { deps, recorder } = parts
  try {
    const usage = await countTrackedEvent(request, deps, recorder)
    // A kept decision may be stored already: then the event is recorded, whatever the quota says now.
    const isUnrecorded = usage.isUnrecorded && first.kept.kind === 'none'
    // The look-ups run beside each other, as one request waits for all of them.
    const deciding = isUnrecorded ? null : uncountOnFailure(usage, () => decideFirst(first, deps))
    const [decided, earlier] = await Promise.all([deciding, first.earlier])
    if (earlier !== null) {
      await usage.giveBack()
      return await answerForEarlier(earlier, { request, claim }, deps)
    }
    if (decided === null) {
      await deps.hotState.releaseInstall(claim)
      return { ...answerInstall(request, unrecordedAnswer(event.eventId)), isUnrecorded: true }
    }
    const renewed = await renewedClaim(claimed, deps)
    if (renewed !== null && renewed.kind !== 'first') {
      await usage.giveBack()
      return await answerForOther(renewed, { request, claim }, deps)
    }
    const renewedKept = readKeptDecision(renewed?.kept ?? null)
    if (renewedKept.kind === 'newer') {
      await usage.giveBack()
      return await leaveToLaterRelease(claim, renewedKept, deps)
    }
    const install = renewedKept.kind === 'decision' ? renewedKept.install : decided
    await uncountOnFailure(usage, () => storeInstall(install, first, parts))
    await deps.hotState.settleInstall({
      ...ownClaim(claim, install),
      answer: JSON.stringify(install.answer),
      isPending: install.resolution === 'pending',
      receivedAtMs: install.receivedAtMs,
      matched: matchedVisit(install),
    })
    void noteMatch({ install, website: request.website, before: first.installation }, parts)
    return answerInstall(request, install.answer)
  } catch (error) {
    await deps.hotState.releaseInstall(claim)
    throw error
  }
}

/**
 * Null if the claim is certainly still this try's. Otherwise the outcome of claiming once more: if another try has taken the
 * event meanwhile, writing this decision would make a row that differs from what that try was told.
 */
async function renewedClaim({ claim, atMs }: ClaimedEvent, deps: ApiDeps): Promise<ClaimOutcome | null> {
  return performance.now() - atMs < SURE_OF_CLAIM_MS ? null : deps.hotState.claimInstall(claim)
}

/** The decision is kept beside the append: a failed append may still have been stored, and the next try must give the same answer. */
async function storeInstall(install: Install, first: FirstReport, parts: PipelineParts): Promise<void> {
  const kept = parts.deps.hotState.keepInstall(ownClaim(first.claimed.claim, install), () => encodeDecision(install))
  await Promise.all([acceptInstall(install, first, parts), kept])
}

/** The body of this try may name another installation than that of the try whose decision was kept. */
function ownClaim(claim: Claim, { installationId }: Install): Claim {
  return claim.installationId === installationId ? claim : { ...claim, installationId }
}

async function decideFirst(first: FirstReport, deps: ApiDeps): Promise<Install> {
  if (first.kept.kind === 'decision') return first.kept.install
  const { website, exchange } = first.request
  const { event } = first
  const nowMs = exchange.receivedAtMs
  const path = chooseInstallPath(website.organization, event.sentInstallPath)
  const result = await resolveEvent(first, path, deps)
  const isTest = isTestMark(deps.keys, ownedWebsite(website), first.request.body['test'], nowMs)
  const deliveries = planDeliveries({
    destinations: website.destinations,
    eventType: event.eventType,
    resolution: result.resolution,
    visitIssuedAtMs: result.visit?.issuedAtMs ?? null,
    receivedAtMs: nowMs,
    isCi: event.isCi,
    isContainer: event.isContainer,
    nowMs,
    isTest,
  })
  const agent = codingAgentOf(exchange.userAgent)
  // At least that of the catalog in which the website was found.
  const { number: catalogNumber } = deps.catalog()
  const reported = { event, installPath: path.installPath, agent, isTest }
  return recordInstall({ website, reported, result, deliveries, catalogNumber, nowMs })
}

async function resolveEvent(first: FirstReport, path: PathChoice, deps: ApiDeps): Promise<ResolutionResult> {
  const { website, exchange } = first.request
  const { event, claimed, installation } = first
  if (isOnlyCounted(website.organization, path)) return COUNTED
  const nowMs = exchange.receivedAtMs
  const owned = ownedWebsite(website)
  const receipts = readReceipts(event.receipts, website, deps, nowMs)
  const states = await statesOf(receipts, owned, { deps, nowMs })
  const handoff = event.handoff === null ? null : readEventToken(event.handoff, website, deps, nowMs)
  const known = { nowMs, receipts, states, handoff, policy: website.selectionPolicy }
  const result = resolve({ ...known, installation: knownInstallation(installation) })
  const isOnlyInstallation = result.resolution === 'pending' && result.openCandidates?.length === 0
  if (!isOnlyInstallation || installation.kind !== 'unknown') return result
  return resolve({ ...known, installation: await lookUpInstallation(claimed.claim, deps, nowMs) })
}

async function acceptInstall(
  install: Install,
  { request, claimed: { waitedMs } }: FirstReport,
  { recorder }: PipelineParts,
): Promise<void> {
  const { retentionDays } = request.website
  await recorder.accept(request, {
    topic: 'installs',
    id: install.eventId,
    build: (log) => ({ v: 1, kind: 'install', request: log, install, retentionDays }),
    waitedMs,
  })
}

/** The event's ID as it was sent, even if it is stored as a hash. */
function answerInstall({ body: sent }: CheckedRequest, body: InstallAnswer): AcceptedAnswer {
  return { kind: 'answer', body: { ...body, event_id: String(sent['event_id']) } }
}
