/** Reads coarse facts about the browser. */

interface UserAgentData {
  getHighEntropyValues(names: string[]): Promise<object>
}

/** The `client` object of a visit. Hints that the browser does not offer are absent. Never rejects. */
export async function readClient(): Promise<object> {
  const { userAgentData, brave } = navigator as Navigator & { userAgentData?: UserAgentData; brave?: object }
  return {
    // Brands, mobile and platform are always included.
    ...(await userAgentData?.getHighEntropyValues(['architecture', 'bitness']).catch(() => undefined)),
    brave: !!brave,
    // A script drives this browser. Otherwise the member is left out of the JSON.
    automation: navigator.webdriver || undefined,
    touch: !!navigator.maxTouchPoints,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    language: navigator.language,
  }
}
