/**
 * Bounds the memory in which batches are packed, over all streams of a process. A batch holds its room while its records are read and
 * packed, not while it is sent: a receiver that hangs keeps nobody waiting.
 */

export interface PackingRoom {
  /** Runs it once there is room for so many bytes; those that wait take their turns. More than the whole room is taken as the whole. */
  readonly within: <T>(bytes: number, work: () => Promise<T>) => Promise<T>
}

interface WaitingBatch {
  readonly bytes: number
  readonly enter: () => void
}

export function createPackingRoom(mostBytes: number): PackingRoom {
  const waiting: WaitingBatch[] = []
  let free = mostBytes
  /** In turn, so that a large batch is not passed for ever by small ones. */
  const letIn = (): void => {
    for (let next = waiting[0]; next !== undefined && next.bytes <= free; next = waiting[0]) {
      waiting.shift()
      free -= next.bytes
      next.enter()
    }
  }
  return {
    async within(wanted, work) {
      const bytes = Math.min(wanted, mostBytes)
      await new Promise<void>((enter) => {
        waiting.push({ bytes, enter })
        letIn()
      })
      try {
        return await work()
      } finally {
        free += bytes
        letIn()
      }
    },
  }
}
