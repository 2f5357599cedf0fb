/** Whether an object is in force, in words, and what to do if it is not. */

import type { ReactNode } from 'react'

import type { Condition } from '../../domain/resources/conditions.ts'
import { conditionWords } from './words.ts'

export function State({ conditions }: { readonly conditions: readonly Condition[] }): ReactNode {
  const { tone, words, fix } = conditionWords(conditions)
  return (
    <>
      <span className={`status ${tone}`}>{words}</span>
      {fix !== '' && <span className="also">{fix}</span>}
    </>
  )
}
