/** Reads coarse facts about the browser. */

interface UserAgentData {
  getHighEntropyValues(names: string[]): Promise<object>
}

const browser = navigator as Navigator & { userAgentData?: UserAgentData; brave?: object }

/** Client hints; undefined if the browser does not offer any. Never rejects. */
export const readHints = (): Promise<object | undefined> | undefined =>
  // Brands, mobile and platform are always included.
  browser.userAgentData?.getHighEntropyValues(['architecture', 'bitness']).catch(() => undefined)

/** The `client` object of a visit. */
export const clientOf = (hints: object | undefined): object => ({
  ...hints,
  brave: !!browser.brave,
  // A script drives this browser. Otherwise the member is left out of the JSON.
  automation: browser.webdriver || undefined,
  touch: !!browser.maxTouchPoints,
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  language: browser.language,
})
