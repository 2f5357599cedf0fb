/** What people read of a filter of figures. */

import { OPERATOR_WORDS, type FigureFilter } from '../../domain/figures/filters.ts'
import { emptyRow, MACHINE_NAMES, ORIGIN_NAMES, type InstallDimension } from '../../domain/figures/installs.ts'
import type { VisitsLeftOut } from '../../domain/figures/overview.ts'
import { rowLabel } from '../figures/rows.ts'

export const DIMENSION_NAMES: Readonly<Record<InstallDimension, string>> = { ...ORIGIN_NAMES, ...MACHINE_NAMES }

/** What has no value has the name of its row. */
export function valueWord(dimension: InstallDimension, value: string): string {
  const row = emptyRow(dimension)
  return value === '' && row !== 'value' ? rowLabel(dimension, row) : value
}

/** "Source is newsletter or Direct" */
export function wordsOfFilter({ dimension, op, values }: FigureFilter): string {
  const words = values.map((value) => valueWord(dimension, value))
  return `${DIMENSION_NAMES[dimension]} ${OPERATOR_WORDS[op]} ${words.join(' or ')}`
}

const LEFT_OUT_WORDS: Readonly<Record<VisitsLeftOut, string>> = {
  install_filter: 'A filter is about machines, so visits and conversion are not counted.',
  too_many: 'There are too many visits in this time to count them under these filters at once.',
}
const TOO_MANY_ADVICE = 'Choose a shorter time, or look at the page Visits, which counts on while you look.'

/** `canChange`: whether whoever reads it can choose another time. */
export function visitsLeftOutText(why: VisitsLeftOut, canChange = true): string {
  return why === 'too_many' && canChange ? `${LEFT_OUT_WORDS[why]} ${TOO_MANY_ADVICE}` : LEFT_OUT_WORDS[why]
}
