/** Which files of a test run share a process, and in which order processes start. */

/** What is known of files: how many seconds each took when it was last measured. */
export type Seconds = Readonly<Record<string, number>>

/**
 * So many files share a process at most. An engine in the process of a test keeps some memory when it is closed, and
 * after some dozens of them a process has too little.
 */
const MOST_FILES_OF_A_PROCESS = 24
/** Files of so many seconds share a process: short enough to fill the lanes evenly, long enough to make up for its start. */
const SECONDS_OF_A_PROCESS = 40
/** Of a file that was never measured. A slow one that begins last would keep one lane busy while the others have ended. */
const unknownSeconds = (file: string): number => (file.endsWith('.test.ts') ? 5 : 60)

/**
 * Divides files among processes, those that take longest first. Lanes that take one after the other from this list end
 * at about the same time. Neighbours in a folder share a process, as they share what they load.
 */
export function planProcesses(files: readonly string[], seconds: Seconds): readonly (readonly string[])[] {
  const secondsOf = (some: readonly string[]): number =>
    some.reduce((sum, file) => sum + (seconds[file] ?? unknownSeconds(file)), 0)
  const processes: string[][] = []
  for (const file of files.toSorted()) {
    const last = processes.at(-1)
    const isFull =
      last === undefined || last.length >= MOST_FILES_OF_A_PROCESS || secondsOf([...last, file]) > SECONDS_OF_A_PROCESS
    if (isFull) processes.push([file])
    else last.push(file)
  }
  return processes.sort((one, other) => secondsOf(other) - secondsOf(one))
}

/** The seconds known after a run: files that are gone are forgotten, those that were not run stay as they are. */
export function learnSeconds(known: Seconds, measured: Seconds, isThere: (file: string) => boolean): Seconds {
  const all = Object.entries({ ...known, ...measured }).filter(([file]) => isThere(file))
  return Object.fromEntries(all.sort(([one], [other]) => (one < other ? -1 : 1)).map(([file, s]) => [file, tenths(s)]))
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10
}
