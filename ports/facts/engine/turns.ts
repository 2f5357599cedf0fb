/** Runs one task at a time; urgent ones go first. */

interface Turns {
  take<T>(isUrgent: boolean, task: () => Promise<T>): Promise<T>
  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void>
}

/** Callers bound how many tasks they start; no task is refused here. */
export function createTurns(): Turns {
  const urgent: (() => void)[] = []
  const patient: (() => void)[] = []
  const idlers: (() => void)[] = []
  let isBusy = false

  function next(): void {
    const start = urgent.shift() ?? patient.shift()
    isBusy = start !== undefined
    if (start !== undefined) start()
    else for (const wake of idlers.splice(0)) wake()
  }

  return {
    async take(isUrgent, task) {
      if (isBusy) await new Promise<void>((resolve) => (isUrgent ? urgent : patient).push(resolve))
      isBusy = true
      try {
        return await task()
      } finally {
        next()
      }
    },
    async idle() {
      if (isBusy) await new Promise<void>((resolve) => idlers.push(resolve))
    },
  }
}
