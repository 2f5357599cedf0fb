/** How a destination is connected: which values to fetch, and where they stand in the provider's own words. */

/** A value that a person fetches. */
export interface GuideField {
  /** Of a setting: its name in the provider's block. Of a secret: its key in a Secret. */
  readonly name: string
  readonly label: string
  /** Where it stands, in the provider's words. */
  readonly where: string
  readonly example: string
  readonly isSecret: boolean
  readonly isOptional?: true
  /** It has several lines. */
  readonly isLong?: true
  /** What is meant by what people paste, its edges aside. */
  readonly meant?: (pasted: string) => string
}

/** One of several sets of values that a provider takes. */
export interface GuideWay {
  readonly title: string
  readonly fields: readonly GuideField[]
}

export interface ProviderGuide {
  /** What must be there before, a sentence each. */
  readonly before: readonly string[]
  /** The settings, which every way needs. */
  readonly settings: readonly GuideField[]
  /** Of credentials; one of them is chosen if there are several. */
  readonly ways: readonly [GuideWay, ...GuideWay[]]
  /** What to look at once it is live, a sentence each. */
  readonly after: readonly string[]
}

export const guideSetting = (field: Omit<GuideField, 'isSecret'>): GuideField => ({ ...field, isSecret: false })
export const guideSecret = (field: Omit<GuideField, 'isSecret'>): GuideField => ({ ...field, isSecret: true })

export const plainDigits = (pasted: string): string => pasted.replace(/[\s-]/g, '')
