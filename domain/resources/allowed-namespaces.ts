/** Decides which namespaces may refer to an Organization or a Website: its own, all, or those with certain labels. */

import type { AllowedNamespaces, LabelRequirement } from '../catalog.ts'
import type { JsonSchema } from '../schema/json-schema.ts'

export type Labels = Readonly<Record<string, string>>

/** A fault in a block that fits its schema. */
interface BlockProblem {
  /** JSON pointer into the block, for example `/selector`. */
  readonly field: string
  readonly message: string
}

/** Kubernetes sets this label on every namespace; for a folder it is implied. */
const NAME_LABEL = 'kubernetes.io/metadata.name'
const LABEL_CHARS = 63
/** A prefix, a slash and a name. */
const LABEL_KEY_CHARS = 253 + 1 + LABEL_CHARS
const MOST_REQUIREMENTS = 16

const labelValue: JsonSchema = { type: 'string', description: 'Value of a label.', maxLength: LABEL_CHARS }

/** `object` names the kind in the description. */
export function allowedNamespacesSchema(object: string): JsonSchema {
  return {
    type: 'object',
    description: `Namespaces from which this ${object} may be referred to. The referring object must name this namespace, so both sides must agree.`,
    properties: {
      from: {
        type: 'string',
        description: 'Its own namespace, every namespace, or those whose labels the selector matches.',
        default: 'Same',
        enum: ['Same', 'All', 'Selector'],
      },
      selector: {
        type: 'object',
        description: 'Labels of namespaces; required with `from: Selector`, and only then. All requirements must hold.',
        properties: {
          matchLabels: {
            type: 'object',
            description: 'Labels with their values.',
            maxProperties: MOST_REQUIREMENTS,
            additionalProperties: labelValue,
          },
          matchExpressions: {
            type: 'array',
            description: 'Requirements on labels, all of which must hold.',
            maxItems: MOST_REQUIREMENTS,
            items: {
              type: 'object',
              description: 'A requirement on one label.',
              required: ['key', 'operator'],
              properties: {
                key: { type: 'string', description: 'Name of the label.', minLength: 1, maxLength: LABEL_KEY_CHARS },
                operator: {
                  type: 'string',
                  description: 'How label and values relate.',
                  enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
                },
                values: {
                  type: 'array',
                  description: 'Required with In and NotIn, and only then.',
                  maxItems: MOST_REQUIREMENTS,
                  items: labelValue,
                },
              },
            },
          },
        },
      },
    },
  }
}

export const SELECTOR_MESSAGE = 'needs a selector with from: Selector, and has none otherwise'
export const VALUES_MESSAGE = 'needs values with In and NotIn, and has none otherwise'

/** The same rules as the API server's, for compilers without one. */
export function allowedNamespacesProblems(allowed: AllowedNamespaces): readonly BlockProblem[] {
  const { from, selector } = allowed
  if ((from === 'Selector') !== (selector !== undefined)) return [{ field: '', message: SELECTOR_MESSAGE }]
  return (selector?.matchExpressions ?? []).flatMap(({ operator, values = [] }, index) =>
    needsValues(operator) === values.length > 0
      ? []
      : [{ field: `/selector/matchExpressions/${index}`, message: VALUES_MESSAGE }],
  )
}

/**
 * Whether objects of this namespace may refer to the object with this `allowed`. A block with problems permits none.
 */
export function permits(allowed: AllowedNamespaces, namespace: string, labels: Labels): boolean {
  if (allowedNamespacesProblems(allowed).length > 0 || allowed.from === 'Same') return false
  if (allowed.from === 'All') return true
  const own = new Map([...Object.entries(labels), [NAME_LABEL, namespace]])
  const { matchLabels = {}, matchExpressions = [] } = allowed.selector ?? {}
  return (
    Object.entries(matchLabels).every(([key, value]) => own.get(key) === value) &&
    matchExpressions.every((requirement) => meetsRequirement(requirement, own.get(requirement.key)))
  )
}

/** As in Kubernetes, a missing label is not in any list. */
function meetsRequirement({ operator, values = [] }: LabelRequirement, value: string | undefined): boolean {
  if (operator === 'Exists') return value !== undefined
  if (operator === 'DoesNotExist') return value === undefined
  const isListed = value !== undefined && values.includes(value)
  return operator === 'In' ? isListed : !isListed
}

function needsValues(operator: LabelRequirement['operator']): boolean {
  return operator === 'In' || operator === 'NotIn'
}
