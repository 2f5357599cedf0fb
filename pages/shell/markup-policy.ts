/** Trusted Types: nothing on these pages may turn text into markup. */

/** The part that we use; TypeScript's DOM library does not declare it yet. */
interface TrustedTypesFactory {
  createPolicy(name: string, rules: { readonly createHTML: (text: string) => string }): unknown
}

declare global {
  interface Window {
    /** Only in browsers that know it. */
    readonly trustedTypes?: TrustedTypesFactory
  }
}

/** The component library writes style sheets with `innerHTML`; those contain no tag. Everything else throws. */
export function allowStylesOnly(): void {
  window.trustedTypes?.createPolicy('default', { createHTML: stylesOnly })
}

function stylesOnly(text: string): string {
  if (text.includes('<')) throw new TypeError('markup from text is not allowed')
  return text
}
