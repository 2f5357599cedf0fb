/** Decides who goes without where there is not room for all: nobody loses a place because of what another owner asks for. */

export interface Claim {
  readonly key: string
  /** Who shares with the others; for example a namespace. */
  readonly owner: string
  readonly bytes: number
}

/**
 * Keys of the claims that do not fit into `capacity` bytes. Owners who ask for no more than an equal share have all they ask for;
 * what they leave goes to the others in equal shares. Of one owner the claims that come first keep their place.
 */
export function withoutRoom(claims: readonly Claim[], capacity: number): ReadonlySet<string> {
  const total = claims.reduce((sum, { bytes }) => sum + bytes, 0)
  if (total <= capacity) return new Set()
  const byOwner = [...Map.groupBy(claims, ({ owner }) => owner).values()]
    .map((own) => ({ own, wanted: own.reduce((sum, { bytes }) => sum + bytes, 0) }))
    .sort((a, b) => a.wanted - b.wanted)
  const out = new Set<string>()
  let left = capacity
  for (const [index, { own, wanted }] of byOwner.entries()) {
    const share = left / (byOwner.length - index)
    left -= Math.min(share, wanted)
    let room = share
    for (const { key, bytes } of own) {
      if (bytes > room) out.add(key)
      else room -= bytes
    }
  }
  return out
}
