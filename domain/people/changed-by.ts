/** The annotation that names the person behind a change in the dashboard, with its proof. */

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

/** The person, if the text proves that they wrote exactly this spec into one of these subjects; null otherwise. */
export function provenPerson(
  text: string | undefined,
  { subjects, specDigest }: { readonly subjects: readonly string[]; readonly specDigest: string },
  hash: (text: string) => string,
): string | null {
  const [person = '', request = '', , more] = (text ?? '').split(' ')
  if (more !== undefined || !PERSON.test(person)) return null
  const isProven = subjects.some((subject) => changedByText({ subject, specDigest, person, request }, hash) === text)
  return isProven ? person : null
}

const PERSON = /^p_[0-9a-f]{16}$/

function signedText({ subject, specDigest, person, request }: SignedChange): string {
  return [subject, specDigest, person, request].join('\n')
}
