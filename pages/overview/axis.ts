/** The axis of a chart: round numbers from nothing to just above the greatest value. */

/** Multiples of a power of ten that people count in. */
const ROUND_STEPS = [1, 2, 5, 10] as const
const MOST_INTERVALS = 4

interface AxisOf {
  readonly most: number
  /** Things are counted in whole numbers. */
  readonly isWhole: boolean
}

/** From 0 to the first round number that is not below `most`; of nothing from 0 to 1. */
export function axisTicks({ most, isWhole }: AxisOf): readonly number[] {
  const wanted = most <= 0 ? 1 : most
  const rough = wanted / MOST_INTERVALS
  const power = 10 ** Math.floor(Math.log10(rough))
  const round = ROUND_STEPS.map((each) => each * power).find((each) => each >= rough * (1 - 1e-9)) ?? 10 * power
  const step = isWhole ? Math.max(1, Math.ceil(round)) : round
  const count = Math.ceil(wanted / step - 1e-9)
  // Multiplied, not added up: 0.1 three times is not 0.3.
  return Array.from({ length: count + 1 }, (_, place) => Number((place * step).toPrecision(12)))
}

/** Places of labels that fit below a chart: the first, and every so many after it. */
export function labelPlaces(columns: number, mostLabels: number): readonly number[] {
  const every = Math.max(1, Math.ceil(columns / mostLabels))
  return Array.from({ length: Math.ceil(columns / every) }, (_, place) => place * every)
}
