/** Remembers which brokers did not answer lately, so that new clients of this process start with a broker that does. */

/** By `host:port`, on the monotonic clock. */
const silentSince = new Map<string, number>()
/** After this time a broker is as likely to answer as any other. */
const FORGOTTEN_MS = 60_000

export function brokerAnswered(address: string): void {
  silentSince.delete(address)
}

export function brokerWasSilent(address: string): void {
  silentSince.set(address, performance.now())
}

/** Every broker is as likely to answer as any other, until one is silent again. */
export function forgetSilence(): void {
  silentSince.clear()
}

/** Brokers that were silent lately come last, the longest silent first among them; the others in random order. */
export function likeliestFirst(brokers: readonly string[]): string[] {
  const nowMs = performance.now()
  const rank = (address: string): number => {
    const sinceMs = silentSince.get(address)
    return sinceMs === undefined || nowMs - sinceMs > FORGOTTEN_MS ? -Math.random() : sinceMs
  }
  return brokers
    .map((address) => ({ address, rank: rank(address) }))
    .sort((left, right) => left.rank - right.rank)
    .map(({ address }) => address)
}
