/** Decides the status of a resource: its conditions, from a closed set of reasons, each with its fix. */

import type { CatalogProblem } from '../catalog.ts'
import { PROBLEM_REASONS } from './problems.ts'
import type { ResourceKind } from './resources.ts'
import { isNumber, isText, isOneOf, orAbsent, shapeOf } from '../guards.ts'
import { memberOf } from '../strict-json.ts'

/**
 * In the order in which they are shown. The first four are always present. The others are present only while they are true:
 * `Reconciling` and `Stalled`, which helm and GitOps tools read, and `Warning`, for problems of an object in force. The kstatus
 * library treats exceptional conditions the same way (sigs.k8s.io/cli-utils, pkg/kstatus); omitting them saves a seventh of
 * what a status costs the API server.
 */
export const CONDITION_TYPES = [
  'Accepted',
  'ResolvedRefs',
  'Programmed',
  'Ready',
  'Reconciling',
  'Stalled',
  'Warning',
] as const
const OWN_TYPES: ReadonlySet<string> = new Set(CONDITION_TYPES)
export type ConditionType = (typeof CONDITION_TYPES)[number]

/** In Kubernetes' own form. */
export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly observedGeneration?: number
  /** RFC 3339; changes only when `status` does. */
  readonly lastTransitionTime: string
  readonly reason: string
  readonly message: string
}

const isCondition = shapeOf<Condition>({
  type: isText,
  status: isOneOf(['True', 'False', 'Unknown']),
  observedGeneration: orAbsent(isNumber),
  lastTransitionTime: isText,
  reason: isText,
  message: isText,
})

/** The conditions in the status of an object; what is none is left out. */
export function conditionsIn(status: unknown): readonly Condition[] {
  const conditions = memberOf(status, 'conditions')
  return Array.isArray(conditions) ? conditions.filter(isCondition) : []
}

interface ConditionReasonRow {
  readonly meaning: string
  readonly fix: string
}

/** Reasons that do not come from a problem of the object itself. */
const STATE_REASONS = {
  Accepted: { meaning: 'The object is valid and accepted.', fix: 'Nothing to do.' },
  ResolvedRefs: { meaning: 'Everything it refers to exists.', fix: 'Nothing to do.' },
  Programmed: { meaning: 'The catalog that the pods read contains it.', fix: 'Nothing to do.' },
  Ready: { meaning: 'It is accepted, complete and in force.', fix: 'Nothing to do.' },
  Delivering: {
    meaning: 'Of a Destination: the provider accepts its credentials again. Of a LogStream: its batches are accepted.',
    fix: 'Nothing to do.',
  },
  Failing: {
    meaning:
      'The receiver of a log stream did not accept the last batch. It is tried again; nothing is lost for seven days, or up to a million records.',
    fix: 'See `status.lastError` and the last attempts in the dashboard; docs/streams.md says what counts as accepted.',
  },
  NotVerified: {
    meaning: 'The address of a log stream has not returned the challenge, so nothing is sent to it.',
    fix: 'Let it return the challenge (docs/streams.md, "First contact"). It is asked again from time to time, and at once if you send a test from the dashboard.',
  },
  Paused: {
    meaning: 'The log stream is paused. New records are kept for seven days.',
    fix: 'Unset `spec.paused`.',
  },
  CredentialsRefused: {
    meaning:
      'The provider refuses its credentials, so its deliveries wait. The workers reported this, up to a minute ago.',
    fix: 'Put valid credentials into its Secret; workers notice them automatically, and waiting deliveries continue.',
  },
  NotAccepted: {
    meaning: 'It is left out of the catalog, because it is refused or refers to something that is missing.',
    fix: 'See the conditions Accepted and ResolvedRefs of the same object.',
  },
  CatalogNotPublished: {
    meaning: 'The catalog that contains it could not be written yet; the previous one stays in force.',
    fix: "See the operator's log and its metric whence_operator_writes_total; it retries by itself.",
  },
} as const satisfies Record<string, ConditionReasonRow>

/** Reasons that occur only in a folder, never for an object in a cluster. */
const FOLDER_ONLY: ReadonlySet<string> = new Set([
  'FolderUnreadable',
  'InvalidYaml',
  'UnknownKind',
  'DuplicateObject',
  'EnvNotSet',
])

/** Every reason that a condition may carry, with its meaning and its fix. */
export const CONDITION_REASONS: Readonly<Record<string, ConditionReasonRow>> = {
  ...STATE_REASONS,
  ...Object.fromEntries(
    Object.entries<ConditionReasonRow>(PROBLEM_REASONS).filter(([reason]) => !FOLDER_ONLY.has(reason)),
  ),
}

interface ConditionsInput {
  readonly kind: ResourceKind
  readonly generation: number
  /** The compiler's problems with this object. */
  readonly problems: readonly CatalogProblem[]
  /** Whether the catalog that holds this generation has been written. */
  readonly isPublished: boolean
  /** The conditions it has now. */
  readonly previous: readonly Condition[]
  /** RFC 3339. */
  readonly now: string
}

const MESSAGE_CHARS = 1_024
const REFERENCE_REASONS: ReadonlySet<string> = new Set([
  'RefNotFound',
  'RefNotAccepted',
  'RefNotPermitted',
  'SecretReserved',
])

/**
 * The conditions of one object. Messages contain no times, counters or random order: the same state always gives the same
 * text.
 */
export function conditionsOf(input: ConditionsInput): readonly Condition[] {
  const isReference = ({ reason }: CatalogProblem) => REFERENCE_REASONS.has(reason)
  const refusals = input.problems.filter(({ isWarning }) => isWarning !== true)
  const accepted = conditionState(
    'Accepted',
    refusals.filter((problem) => !isReference(problem)),
  )
  const resolved = conditionState('ResolvedRefs', refusals.filter(isReference))
  const programmed = programmedState(input, accepted, resolved)
  const failed = [accepted, resolved, programmed].find(({ isTrue }) => !isTrue)
  const lasting = [
    conditionOf('Accepted', accepted, input),
    conditionOf('ResolvedRefs', resolved, input),
    conditionOf('Programmed', programmed, input),
    conditionOf('Ready', failed ?? { isTrue: true, reason: 'Ready', message: '' }, input),
  ]
  const warned = warningOf(input)
  const extra = warned === null ? [] : [conditionOf('Warning', warned, input)]
  if (failed === undefined) return [...lasting, ...extra]
  const passing = failed.reason === 'CatalogNotPublished' ? 'Reconciling' : 'Stalled'
  return [...lasting, conditionOf(passing, { ...failed, isTrue: true }, input), ...extra]
}

function warningOf({ problems }: ConditionsInput): State | null {
  const warnings = problems.filter(({ isWarning }) => isWarning === true)
  return warnings.length === 0 ? null : { ...conditionState('Accepted', warnings), isTrue: true }
}

/**
 * The condition `Delivering`, which only a Destination has, once its deliveries were paused. It is applied separately from the
 * conditions that `sayTheSame` and `conditionsOf` handle.
 */
export function deliveringCondition(isPaused: boolean, sinceMs: number): Condition {
  return {
    type: 'Delivering',
    status: isPaused ? 'False' : 'True',
    reason: isPaused ? 'CredentialsRefused' : 'Delivering',
    message: isPaused ? 'the provider refuses its credentials; deliveries wait' : '',
    lastTransitionTime: `${new Date(sinceMs).toISOString().slice(0, 19)}Z`,
  }
}

/** Whether two lists of conditions agree, ignoring times. */
export function sayTheSame(a: readonly Condition[], b: readonly Condition[]): boolean {
  const text = (conditions: readonly Condition[]) =>
    JSON.stringify(
      conditions
        .filter(({ type }) => OWN_TYPES.has(type))
        .map(({ type, status, observedGeneration, reason, message }) => [
          type,
          status,
          observedGeneration ?? null,
          reason,
          message,
        ])
        .sort(),
    )
  return text(a) === text(b)
}

/** The schema of `status.conditions`, in the dialect of structural schemas. */
export function conditionsSchema(): Readonly<Record<string, unknown>> {
  return {
    type: 'array',
    description: `Its state: ${CONDITION_TYPES.join(', ')}.`,
    maxItems: 16,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    items: {
      type: 'object',
      description: 'One aspect of the state.',
      required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
      properties: {
        type: { type: 'string', description: 'The aspect.', maxLength: 316 },
        status: { type: 'string', description: 'Whether it holds.', enum: ['True', 'False', 'Unknown'] },
        observedGeneration: {
          type: 'integer',
          format: 'int64',
          minimum: 0,
          description: 'The generation of the spec that it is about.',
        },
        lastTransitionTime: {
          type: 'string',
          description: 'When its status last changed.',
          format: 'date-time',
        },
        reason: {
          type: 'string',
          minLength: 1,
          maxLength: MESSAGE_CHARS,
          description: 'Why, in one word; docs/conditions.md has the fix for each.',
        },
        message: { type: 'string', description: 'Why, in a sentence.', maxLength: 32_768 },
      },
    },
  }
}

interface State {
  readonly isTrue: boolean
  readonly reason: string
  readonly message: string
}

function conditionState(reason: 'Accepted' | 'ResolvedRefs', problems: readonly CatalogProblem[]): State {
  const [first] = problems
  if (first === undefined) return { isTrue: true, reason, message: '' }
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`
  return { isTrue: false, reason: first.reason, message: first.message.slice(0, MESSAGE_CHARS) + more }
}

/** An Organization whose default path is missing stays in force with its oldest path; all other refused objects are left out. */
function programmedState(input: ConditionsInput, accepted: State, resolved: State): State {
  const { kind, isPublished, problems } = input
  if (problems.some(({ reason }) => reason === 'LastAcceptedKept')) {
    return { isTrue: false, reason: 'NotAccepted', message: 'the form accepted last stays in force' }
  }
  const isLeftOut = !accepted.isTrue || (!resolved.isTrue && kind !== 'Organization')
  if (isLeftOut) return { isTrue: false, reason: 'NotAccepted', message: 'it is not part of the catalog' }
  if (!isPublished) return { isTrue: false, reason: 'CatalogNotPublished', message: 'the catalog is being written' }
  return { isTrue: true, reason: 'Programmed', message: '' }
}

function conditionOf(type: ConditionType, { isTrue, reason, message }: State, input: ConditionsInput): Condition {
  const status = isTrue ? 'True' : 'False'
  const before = input.previous.find((condition) => condition.type === type)
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : input.now
  return { type, status, observedGeneration: input.generation, lastTransitionTime, reason, message }
}
