/** Long work in steps: a generator that stops wherever its caller may do something else before it goes on. */

export type SmallSteps<T> = Generator<undefined, T>

/** Does all steps without a stop. */
export function atOnce<T>(steps: SmallSteps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
