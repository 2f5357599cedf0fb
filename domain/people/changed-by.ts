/** The annotation that says who made a change in the dashboard, with its proof. */

/** `subject`: UID of the object, or the place of a new one. */
interface SignedChange {
  readonly subject: string
  readonly specDigest: string
  readonly person: string
  readonly request: string
}

/** The proof covers the object, exactly this spec, the person and the request, so it cannot be carried over to another change. */
export function changedByText(change: SignedChange, hash: (text: string) => string): string {
  return `${change.person} ${change.request} ${hash(signedText(change))}`
}

function signedText({ subject, specDigest, person, request }: SignedChange): string {
  return [subject, specDigest, person, request].join('\n')
}
