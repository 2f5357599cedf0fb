/** Renders the definitions of the kinds in crds/, and the page of condition reasons. */

import { stringify } from 'yaml'

import { CONDITION_REASONS, CONDITION_TYPES } from '../../domain/resources/conditions.ts'
import type { ConditionType } from '../../domain/resources/conditions.ts'
import { customResourceDefinition, RESOURCE_PLURALS } from '../../domain/resources/crd.ts'
import { RESOURCE_KINDS } from '../../domain/resources/resources.ts'
import { code, page, table } from './markdown.ts'
import { sha256Hex } from '../../common/digest.ts'

/** One file per kind. */
export function crdFiles(): readonly { readonly path: string; readonly text: string }[] {
  return RESOURCE_KINDS.map((kind) => ({
    path: `crds/${RESOURCE_PLURALS[kind]}.yaml`,
    text: `# Made from domain/resources/resources.ts by \`make docs\`; changes belong there.\n${stringify(
      customResourceDefinition(kind, sha256Hex),
      { lineWidth: 0, aliasDuplicateObjects: false },
    )}`,
  }))
}

const TYPE_WORDS: { readonly [T in ConditionType]: string } = {
  Accepted: 'The object is valid, has its place in the plan, and no older one has its ID.',
  ResolvedRefs: 'Everything it refers to, including Secrets, exists and is accepted.',
  Programmed: 'It is in the catalog that the pods watch. Pods load the catalog within moments.',
  Ready: 'All three above are true. `kubectl wait --for=condition=Ready` waits for it.',
  Reconciling: 'Present, and True, only while the operator still has something to write for it.',
  Stalled:
    'Present, and True, only while it cannot become ready without a change of this object or of one that it refers to.',
  Warning:
    'Present, and True, only while part of an object in force is ignored or left out: a field that its definition knows and the operator does not, or a page that cannot have its origin.',
}

export function conditionsPage(): string {
  return page('Conditions', 'domain/resources/conditions.ts and domain/resources/problems.ts', [
    'The operator keeps these conditions on every custom resource, with `observedGeneration`, the generation of the spec that they describe. ' +
      'A condition is written only when it changes.',
    table(
      ['Condition', 'What it says'],
      [
        ...CONDITION_TYPES.map((type) => [code(type), TYPE_WORDS[type]]),
        [
          code('Delivering'),
          'Of a Destination whose deliveries were once paused: False while the provider refuses its credentials. ' +
            'Of a LogStream: whether its batches are accepted. ' +
            'Both are reported through ClickHouse, so it is present only with `--facts`, and up to a minute late.',
        ],
      ],
    ),
    '## Reasons',
    table(
      ['Reason', 'What it means', 'What to do'],
      Object.entries(CONDITION_REASONS).map(([reason, { meaning, fix }]) => [code(reason), meaning, fix]),
    ),
  ])
}
