/** Properties that dialogs share. */

export const MODAL = { closeButtonProps: { 'aria-label': 'Close' } } as const

/** Of a dialog with a form, or with what is shown only once: a click beside it must not throw that away. */
export const FORM_MODAL = { ...MODAL, closeOnClickOutside: false } as const
