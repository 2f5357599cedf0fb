/** Reads the coarse hints about the browser that go along with a visit. */

interface UserAgentData {
  getHighEntropyValues(names: string[]): Promise<Record<string, unknown>>
}

/** The `client` object of a visit. Hints that the browser does not give are undefined and vanish in JSON. Never rejects. */
export async function readClient(): Promise<object> {
  const { userAgentData, brave } = navigator as Navigator & { userAgentData?: UserAgentData; brave?: object }
  const names = ['architecture', 'bitness', 'platformVersion']
  // Brands, mobile and platform come unasked.
  const hints = Object(await userAgentData?.getHighEntropyValues(names).catch(() => 0)) as Record<string, unknown>
  const { brands, mobile, platform, platformVersion: platform_version, architecture, bitness } = hints
  return {
    brands,
    mobile,
    platform,
    platform_version,
    architecture,
    bitness,
    brave: !!brave,
    touch: navigator.maxTouchPoints > 0,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    language: navigator.language,
  }
}
