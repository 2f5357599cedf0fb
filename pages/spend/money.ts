/** Amounts of the smallest unit of a currency as people read them. */

/** A cost of less than a unit is shown to a hundredth of what the currency has. */
const FURTHER_PLACES = 2

export function moneyText(
  amount: number,
  { currency, places }: { readonly currency: string; readonly places: number },
): string {
  const value = amount / 10 ** places
  const isSmall = value > 0 && value < 1 && !Number.isInteger(amount)
  return value.toLocaleString(undefined, {
    style: 'currency',
    currency,
    minimumFractionDigits: places,
    maximumFractionDigits: isSmall ? places + FURTHER_PLACES : places,
  })
}
