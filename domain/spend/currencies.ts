/**
 * Currencies and the decimal places of their amounts, by ISO 4217.
 *
 * The codes are those that Node carries. Its places are those of everyday use, which leave out the fillér of Hungary and the fils of Iraq; ISO 4217,
 * and with it advertising accounts, do not. So the places are listed here.
 */

const CODES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

const USUAL_PLACES = 2
/** ISO 4217, list one of 2026-01-01: the currencies whose minor unit is not a hundredth. */
const OTHER_PLACES: ReadonlyMap<string, number> = new Map([
  ...codesOf('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF', 0),
  ...codesOf('BHD IQD JOD KWD LYD OMR TND', 3),
  ...codesOf('CLF UYW', 4),
])

function codesOf(codes: string, places: number): readonly (readonly [string, number])[] {
  return codes.split(' ').map((code) => [code, places])
}

/** A code of three capital letters, such as `EUR`. */
export function isCurrency(code: string): boolean {
  return CODES.has(code)
}

/** How many decimal places amounts of a currency have; an integer that counts the smallest unit is divided by ten to this power. */
export function placesOf(currency: string): number {
  return OTHER_PLACES.get(currency) ?? USUAL_PLACES
}

/** An amount of the smallest unit as a decimal number with all its places, such as `12.50`. */
export function decimalAmount(amount: number, currency: string): string {
  const places = placesOf(currency)
  const digits = String(amount).padStart(places + 1, '0')
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
}
