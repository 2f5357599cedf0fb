/** Decides how the commands of a page are filled. */

import { nativeDocument } from '../core/native.ts'
import type { Page } from '../core/types.ts'
import type { FillOptions } from './fill.ts'

/** A name that needs no quotes, and that nobody could mistake for a part of the command. */
const VARIABLE_NAME = /^[A-Z_][A-Z0-9_]*$/

/**
 * How this page's commands are filled. The variable is that of the script tag, or else of `<html>`: what other people
 * write into a page must not choose it.
 */
export function fillOptionsOf({ tagAttributes }: Page): FillOptions {
  const variable = tagAttributes.variable ?? nativeDocument.documentElement.dataset['whenceVariable'] ?? ''
  return {
    variable: VARIABLE_NAME.test(variable) ? variable : undefined,
    isWindows: /Windows/.test(navigator.userAgent),
  }
}
